"""Memory operations of the API: search, forget, review, erase.

Open first: ``lookup``. Imports: changes, inject, library and below.
"""
