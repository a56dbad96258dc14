"""Keys, scopes and limits: who asks, and how much they may.

Open first: ``auth``. Imports: dialects and below.
"""
