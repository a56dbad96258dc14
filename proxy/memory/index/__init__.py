"""Searchable rows of one user: postings, vectors, cache, sketches of large tables.

Open first: ``index``. Imports: plan, vectors, model and below.
"""
