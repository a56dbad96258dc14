"""Turn in, plan out: the user's statements, and the memories that they close, link or leave for review.

Open first: ``learn``. Imports: index, visibility and below.
"""
