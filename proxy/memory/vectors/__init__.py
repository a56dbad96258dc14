"""Embedding models: built in, from a hub, from a provider, with a cache.

Open first: ``embed``. Imports: store and below.
"""
