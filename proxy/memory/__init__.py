"""Long-term memory of one user: learn, recall, inject, forget; one room each.

Open first: ``recall/sources``. Imports: dialects, upstream, store, media and below.
"""
