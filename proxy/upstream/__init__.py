"""Providers: bytes to and from them."""
