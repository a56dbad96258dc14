"""Which stored texts may be shown now: status, closed wording, expiry.

Open first: ``visibility``. Imports: plan and below.
"""
