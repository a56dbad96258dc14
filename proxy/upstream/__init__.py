"""Upstreams: routes to providers, and requests and replies on the way to and from them."""
