"""Keys, scopes and limits: identity of a request, and its allowance.

Open first: ``auth``. Imports: dialects and below.
"""
