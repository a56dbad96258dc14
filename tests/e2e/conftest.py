"""Fixtures of tests that share a server."""

from __future__ import annotations

from tests.e2e.office import office, staff
from tests.serving import alice, lasting_provider, server, upstream

__all__ = ["alice", "lasting_provider", "office", "server", "staff", "upstream"]
