"""Visibility of stored texts: status, closed wording, expiry.

Open first: ``visibility``. Imports: plan and below.
"""
