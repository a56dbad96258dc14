"""Thread pools, priority of requests, heap of this process.

Open first: ``threads``. Imports: settings and below.
"""
