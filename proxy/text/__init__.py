"""Language-dependent text processing: folding, tokens, dates, secrets, fences of injected text.

Open first: ``words``. Imports: settings and below.
"""
