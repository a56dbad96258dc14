"""Bytes to text, within limits."""
