"""Values of a planned change of memories; no behaviour.

Open first: ``changes``. Imports: store and below.
"""
