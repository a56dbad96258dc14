"""Fixtures of tests that share a server."""

from __future__ import annotations

from tests.serving import alice, lasting_provider, server, upstream

__all__ = ["alice", "lasting_provider", "server", "upstream"]
