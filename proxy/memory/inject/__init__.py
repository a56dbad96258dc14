"""Turn hits into text: profile, blocks, budget, ledger. Pure.

Open first: ``ledger``. Imports: learn, recall, conversations and below.
"""
