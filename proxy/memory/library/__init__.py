"""Documents and images as memory: captions, abstracts, stand-ins for files a model cannot read.

Open first: ``library``. Imports: learn, recall, conversations and below.
"""
