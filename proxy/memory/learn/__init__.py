"""Turn in, plan out: statements of the user and what they close, link or leave for review.

Open first: ``learn``. Imports: index, visibility and below.
"""
