"""Notes of an import's job about single entries."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.api.test_transfer import bring
from tests.running import Running
from tests.talking import speaking


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        (lambda text: f"- I like tea\n\n- {text}\n- {text[:1999]}z\n".encode(), 2_000),
        (lambda text: json.dumps([{"memory": "I like tea"}, {"memory": 11 * text}]).encode(), 20_000),
    ],
    ids=["list", "mem0"],
)
def test_job_reports_texts_that_were_cut(server: Running, made: Callable[[str], bytes], kept: int) -> None:
    text = "I keep bees. " + "x" * 1_988
    with speaking(server) as alice:
        job = bring(alice, made(text))
        assert job["notes"] == [f"entry 2: cut off after {kept:,} characters"]
        assert kept in {len(one) for one in alice.texts()}


def test_job_says_where_its_notes_end(server: Running) -> None:
    with speaking(server) as alice:
        job = bring(alice, "".join(f"- {number} {2_000 * 'x'}\n" for number in range(260)).encode())
    assert len(job["notes"]) == 201
    assert job["notes"][-1].startswith("more than 200 notes")
