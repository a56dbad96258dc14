"""One call to the operator's model: access, prompt files, JSON out of a reply.

Open first: ``call``. Imports: dialects, upstream, store, media and below.
"""
