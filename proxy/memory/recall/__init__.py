"""Query in, ranked hits out: sources, fusion, admission gate.

Open first: ``sources``; its numbers: ``tuning``. Imports: index, visibility and below.
"""
