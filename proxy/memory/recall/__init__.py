"""Query in, ranked hits out: sources, fusion, admission gate.

Open first: ``sources``. Imports: index, visibility and below.
"""
