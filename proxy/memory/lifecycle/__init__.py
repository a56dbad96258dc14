"""Operations on memory by API: search, forget, review, erase.

Open first: ``lookup``. Imports: changes, inject, library and below.
"""
