"""Tests of providers: bytes to and from them."""
