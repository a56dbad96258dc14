"""What every test shares."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings
from structlog.testing import LogCapture

from tests.fakes.fixtures import provider

__all__ = ["anyio_backend", "log_lines", "provider"]

settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # speed is no law
settings.load_profile("laws")

YOUNG_OBJECTS = (10_000, 5, 5)  # as the server sets it for itself; the old are looked at twice as seldom
MAX_PROCESSES = 8  # each may hold a server with its model, and a Postgres


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the processes of ``-n auto``: one a core; with more, what is timed fails now and then."""
    return min(len(os.sched_getaffinity(0)), MAX_PROCESSES)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is imported and collected here out of each collection of garbage: a tenth of the time of all tests."""
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(*YOUNG_OBJECTS)
    gc.enable()
    return collected


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def log_lines() -> Iterator[list[structlog.typing.EventDict]]:
    """Every line logged during the test, whatever level an application of another test has set."""
    before, capture = structlog.get_config(), LogCapture()
    structlog.configure(processors=[capture], wrapper_class=structlog.make_filtering_bound_logger(0))
    yield capture.entries
    structlog.configure(**before)
