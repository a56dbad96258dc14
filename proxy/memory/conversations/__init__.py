"""Turns of a conversation: identity by hash chain, transcript, episodes, summaries, compaction.

Open first: ``chain``. Imports: index, visibility and below.
"""
