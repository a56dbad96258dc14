"""What people do with memory by API: search, later forget, review, erase.

Open first: ``lookup``. Imports: changes, inject, library and below.
"""
