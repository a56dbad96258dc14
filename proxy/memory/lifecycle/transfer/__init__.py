"""Export of a scope, and import of our own exports, those of ChatGPT, Claude and mem0, and pasted lists.

Open first: ``formats``. Imports: ``store``, ``memory.changes``, ``memory.conversations``, ``dialects``.
"""
