"""Turn in, plan out: statements of the user and what they close, link or leave for review.

Open first: ``extract``. Imports: index, visibility and below.
"""
