"""Fixtures around the fake provider, imported by ``tests/conftest.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.provider import FakeProvider


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Return a fake provider on a free port of 127.0.0.1."""
    with FakeProvider() as fake:
        yield fake
