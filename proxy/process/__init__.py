"""Thread pools, request priority and heap of this process.

Open first: ``threads``. Imports: settings and below.
"""
