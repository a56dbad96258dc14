"""The dashboard in a real browser: axe finds no fault, no script fails, narrow screens do not scroll sideways.

``make browser-tools`` fetches playwright-core and axe-core from npm; the browser is Debian's chromium.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.dashboard.scene import IS_MISSING, NEEDS, furnished, walked

pytestmark = pytest.mark.skipif(IS_MISSING, reason=NEEDS)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("scene")
    with furnished(folder) as scene:
        return walked(scene)


def _told(seen: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [one for one in seen if name in one]


def test_every_page_is_accessible_in_all_appearances(seen: list[dict[str, Any]]) -> None:
    """The appearances are light, dark, wide and narrow."""
    pages = _told(seen, "status")
    assert len(pages) > 50
    for one in pages:
        assert (one["status"], one["violations"], one["overflow"], one["errors"]) == (200, [], False, []), one


def test_a_list_is_searched_while_words_are_typed(seen: list[dict[str, Any]]) -> None:
    typed = _told(seen, "search")
    assert len(typed) == 3
    assert all("Tromsø" in one["search"] and "query=sister" in one["at"] for one in typed)


def test_progress_comes_to_an_open_page(seen: list[dict[str, Any]]) -> None:
    assert "40 / 40" in _told(seen, "imported")[0]["imported"]
    assert "/" in _told(seen, "exported")[0]["exported"]


def test_one_key_decides(seen: list[dict[str, Any]]) -> None:
    queues = _told(seen, "queue")
    assert {one["queue"] for one in queues} == {"reviews", "quarantine", "tasks"}
    assert all(one["after"] == one["before"] - 1 for one in queues)


def test_forms_work_without_scripts(seen: list[dict[str, Any]]) -> None:
    (one,) = _told(seen, "withoutScripts")
    assert "Remembered." in one["stated"]
    assert "I mend clocks on Sundays" in one["withoutScripts"]
