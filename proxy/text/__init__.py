"""Words of every language: folding, tokens, dates, secrets, fences of injected text.

Open first: ``words``. Imports: settings and below.
"""
