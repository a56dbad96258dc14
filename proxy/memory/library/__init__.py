"""Documents and images as memory: captions, abstracts, text in place of files that a model cannot read.

Open first: ``library``. Imports: learn, recall, conversations and below.
"""
