"""Failures of background tasks: which are logged as errors."""

from __future__ import annotations

import pytest
from structlog.typing import EventDict

from proxy.errors import NotFound, StoreUnavailable
from proxy.process.threads import shielded

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    ("error", "is_logged"), [(NotFound("no memory"), False), (StoreUnavailable("away"), True), (ValueError(), True)]
)
async def test_refusals_are_not_logged_as_errors(log_lines: list[EventDict], error: Exception, is_logged: bool) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        await shielded(fail(), "write")
    assert [line["event"] for line in log_lines] == ["background task failed"] * is_logged
