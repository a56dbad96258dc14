"""A small data set in the format of the evaluations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy.text import tokens


@pytest.fixture(autouse=True, scope="session")
def _exact_tokens() -> None:
    tokens.load()


SESSIONS = [
    {
        "user": "ada",
        "session_id": "ada/1",
        "date": "2026-01-05T18:30:00",
        "messages": [
            {"role": "user", "content": "My telescope is a Dobsonian with a ten inch mirror.", "src_ids": ["1:1"]},
            {"role": "assistant", "content": "That gathers a lot of light for faint galaxies.", "src_ids": ["1:2"]},
            {"role": "user", "content": "I keep it in the shed next to the greenhouse.", "src_ids": ["1:3"]},
            {"role": "assistant", "content": "Mind the dew.", "src_ids": ["1:4"]},
        ],
    },
    {
        "user": "ada",
        "session_id": "ada/2",
        "date": "2026-02-01T09:00:00",
        "messages": [
            {"role": "assistant", "content": "Good morning!", "src_ids": ["2:1"]},
            {"role": "user", "content": "The choir rehearses on Thursdays in the town hall now.", "src_ids": ["2:2"]},
        ],
    },
    {
        "user": "bo",
        "session_id": "bo/1",
        "date": "2026-01-07T12:00:00",
        "messages": [
            {"role": "user", "content": "Our ferry to the island leaves at six every morning.", "src_ids": ["1:1"]},
            {"role": "assistant", "content": "An early start.", "src_ids": ["1:2"]},
        ],
    },
]
QUESTIONS = [
    {
        "user": "ada",
        "qid": "ada/q1",
        "category": "single-hop",
        "question": "What kind of telescope mirror do I have?",
        "answer": "a ten inch Dobsonian mirror",
        "gold_src_ids": ["1:1"],
        "gold_session_ids": ["ada/1"],
        "after": "all",
    },
    {
        "user": "ada",
        "qid": "ada/q2",
        "category": "single-hop",
        "question": "Where in the shed do I keep the telescope?",
        "answer": "next to the greenhouse",
        "gold_src_ids": ["1:3"],
        "gold_session_ids": ["ada/1"],
        "after": "ada/1",
    },
    {
        "user": "bo",
        "qid": "bo/q1",
        "category": "adversarial",
        "question": "When does the choir rehearse?",
        "answer": None,
        "gold_src_ids": [],
        "gold_session_ids": [],
        "after": "all",
    },
]
CASES = [
    {
        "id": "swap",
        "lang": "en",
        "kind": "correct",
        "conversations": [["I play the oboe in a quintet."], ["I don't play the oboe anymore, I play the bassoon."]],
        "probe": "Which instrument do I play?",
        "present": ["bassoon"],
        "absent": ["oboe"],
    }
]

SCENARIOS = [
    {
        "id": "streamed",
        "lang": "en",
        "kind": "order",
        "conversations": [{"user": ["My canoe is green.", "It is in the cellar."], "time": "2026-01-05T09:00:00Z"}],
        "probe": "What colour is my canoe?",
        "present": [["green", "verdant"]],
    },
    {
        "id": "shared",
        "lang": "en",
        "kind": "isolation",
        "conversations": [
            {"no_user": True, "headers": {"X-OpenWebUI-User-Id": "ann"}, "key": "k", "user": ["I like marzipan."]},
            {"as": "-b", "user": ["I play chess."]},
        ],
        "probes": [
            {
                "no_user": True,
                "headers": {"X-OpenWebUI-User-Id": "ann"},
                "key": "k",
                "probe": "What do I like?",
                "present": ["marzipan"],
                "absent": ["chess"],
            },
            {"as": "-b", "probe": "What do I play?", "present": ["chess"], "absent": ["marzipan"]},
        ],
    },
]
STORIES = [
    {
        "id": "life",
        "lang": "en",
        "ask": {"time": "2026-03-01T09:00:00Z"},
        "conversations": [{"time": "2026-01-05T09:00:00Z", "user": ["My parrot Kasimir can whistle."]}],
        "questions": [{"probe": "What can my parrot do?", "present": ["whistle"]}],
    }
]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    for name, rows in (("sessions", SESSIONS), ("questions", QUESTIONS), ("retract", CASES), ("memory", SCENARIOS)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "stories.json").write_text(json.dumps(STORIES), encoding="utf-8")
    return tmp_path
