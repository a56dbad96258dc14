"""Progress of long work: the events of a page from first to last."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.api.dashboard.browsing import Browser
from tests.talking import Speaker, new_key

MARK = "0123456789abcdef" * 2


def _events(browser: Browser, path: str) -> Iterator[tuple[str, str]]:
    """Yield name and data of each event up to the last."""
    name, data = "message", list[str]()
    with browser.http.stream("GET", f"/dashboard{path}", timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line:
                field, _, value = line.partition(":")
                name = value.strip() if field == "event" else name
                data += [value.removeprefix(" ")] if field == "data" else []
                continue
            yield name, "\n".join(data)
            name, data = "message", []


def _of_work(browser: Browser) -> list[dict[str, object]]:
    *told, last = list(_events(browser, f"/progress/{MARK}"))
    assert last == ("end", "")
    return [json.loads(data) for name, data in told if name == "message"]


def test_events_of_imports_end_when_none_runs(browser: Browser) -> None:
    browser.get("/moving")
    sent = {"file": ("list.txt", "\n".join(f"My boat {n} is called Fru{n}" for n in range(40)).encode())}
    page = browser.http.post(f"/dashboard/import?csrf={browser.csrf()}", files=sent).text
    assert 'data-events="/dashboard/jobs/events"' in page
    assert "<noscript>" in page
    *told, last = list(_events(browser, "/jobs/events"))
    assert last == ("end", "")
    assert "40 / 40" in told[-1][1]
    assert all("<progress" in data for _, data in told)
    after = browser.get("/moving")
    assert "data-events" not in after
    assert "<noscript>" not in after


def test_events_of_an_export_count_its_lines(browser: Browser, alice: Speaker) -> None:
    for n in range(5):
        alice.http.post("/memories", json={"text": f"My boat {n} is called Fru{n}"}).raise_for_status()
    lines = browser.get(f"/export?mark={MARK}").splitlines()
    told = _of_work(browser)[-1]
    assert told["is_over"]
    assert told["done"] == told["total"] == len(lines) - 1


def test_events_of_erasing_name_its_steps(browser: Browser, alice: Speaker) -> None:
    alice.http.post("/memories", json={"text": "I play the serpent"}).raise_for_status()
    assert "Nothing of it is left" in browser.post("/erase", sure="erase", mark=MARK).text
    told = _of_work(browser)[-1]
    assert (told["step"], told["is_over"]) == ("searching the files for what is left", True)


def test_progress_is_seen_by_its_visitor_alone(browser: Browser, alice: Speaker) -> None:
    browser.get(f"/export?mark={MARK}")
    other = Browser(alice.server)
    with other.http as http:
        other.sign_in(new_key())
        with http.stream("GET", f"/dashboard/progress/{MARK}") as answer:
            assert next(answer.iter_lines()) == "data: null"
    assert _of_work(browser)[-1]["is_over"]
