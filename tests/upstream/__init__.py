"""Tests of the upstream side: bytes to and from providers."""
