"""What a user takes out and brings in: our own export, and those of ChatGPT, Claude and mem0, or a pasted list.

Open first: ``formats``. Imports: ``store``, ``memory.changes``, ``memory.conversations``, ``dialects``.
"""
