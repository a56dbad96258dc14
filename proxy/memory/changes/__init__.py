"""Write planned changes: memory rows, history, ledger. The only writer of memories.

Open first: ``book``. Imports: learn, recall, conversations and below.
"""
