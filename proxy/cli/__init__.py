"""Commands of `throughline`, each a thin call into services or HTTP.

Open first: ``main``. Imports: everything below.
"""
