"""Export of a scope, and import of Throughline's, ChatGPT's, Claude's and mem0's exports, and of pasted lists.

Open first: ``formats``. Imports: ``store``, ``memory.changes``, ``memory.conversations``, ``dialects``.
"""
