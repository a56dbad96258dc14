from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any, get_args

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from proxy.store import codec
from proxy.store.codec import Text
from proxy.types import STATUSES, Kind, Memory, Provenance, Said, Scope, Turn

ANY_TEXT = st.text(st.characters(codec=None), max_size=30)  # NUL and lone surrogates included
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(timezones=ZONES)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(ANY_TEXT, JSON, max_size=3)
SCOPES = st.builds(Scope, ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
SAID = st.builds(Said, ANY_TEXT, st.sampled_from(["user", "assistant"]), ANY_TEXT, st.booleans(), st.integers(0, 9))
TURNS = st.builds(
    Turn,
    id=ANY_TEXT,
    scope=SCOPES,
    messages=st.lists(SAID, max_size=3).map(tuple),
    reply=ANY_TEXT,
    finish=st.sampled_from(["complete", "client_closed", "upstream_error"]),
    model=ANY_TEXT,
    at=TIMES,
    reply_id=ANY_TEXT,
    usage=st.none() | OBJECTS,
    offset_minutes=st.integers(-14 * 60, 14 * 60),
)
MEMORIES = st.builds(
    Memory,
    id=ANY_TEXT,
    kind=st.sampled_from(get_args(Kind)),
    text=ANY_TEXT,
    created_at=TIMES,
    updated_at=TIMES,
    valid_from=TIMES,
    quote=ANY_TEXT,
    confidence=st.floats(0, 1),
    provenance=st.sampled_from(get_args(Provenance)),
    status=st.sampled_from(STATUSES),
    valid_to=st.none() | TIMES,
    last_used_at=st.none() | TIMES,
    expires_at=st.none() | TIMES,
    pinned=st.booleans(),
    turns=st.lists(ANY_TEXT, max_size=3).map(tuple),
    context=ANY_TEXT,
    context_by=st.sampled_from(["", "user", "assistant"]),
    message=ANY_TEXT,
    start=st.integers(0, 9),
    earlier=st.lists(ANY_TEXT, max_size=2).map(tuple),
    later=st.lists(ANY_TEXT, max_size=2).map(tuple),
    batch=ANY_TEXT,
    metadata=OBJECTS,
)

COLUMN_TEXT = st.text(st.characters(codec=None)) | st.text("\\0ud8\0\ud800x")
DIALECT = sqlite.dialect()


@given(TURNS)
def test_turn_survives_the_way_to_json_and_back(turn: Turn) -> None:
    assert codec.turn_from_json(codec.turn_to_json(turn)) == turn


@given(MEMORIES)
def test_memory_survives_the_way_to_json_and_back(memory: Memory) -> None:
    assert codec.memory_from_json(codec.memory_to_json(memory)) == memory


@given(JSON)
def test_json_value_comes_back_equal_in_type(value: Any) -> None:
    back = codec.loads(codec.dumps(value))
    assert back == value
    assert repr(back) == repr(value)


TIMES_OF_OLD = dict.fromkeys(("created_at", "updated_at", "valid_from"), "2026-01-01T00:00:00Z")


def test_unknown_fields_are_ignored_missing_ones_get_defaults() -> None:
    memory = {"id": "m", "kind": "fact", "text": "x", **TIMES_OF_OLD}
    read = codec.memory_from_json(orjson.dumps(memory | {"invented_later": 1}))
    assert (read.text, read.status, read.earlier, read.confidence) == ("x", "active", (), 1.0)


# Version 0.1's record of "I use Shram and Magnet at work.": rephrased, with a relation.
OLD = {
    "id": "mem_1",
    "kind": "fact",
    "text": "I use Shram at work",
    **TIMES_OF_OLD,
    "subject": "user",
    "relation": "use",
    "object": "Shram",
    "quote": "I use Shram and Magnet at work.",
    "source": "turn:turn_1",
    "confidence": 0.9,
    "provenance": "user",
    "status": "active",
    "valid_to": None,
    "last_used_at": None,
    "uses": 3,
    "expires_at": None,
    "pinned": True,
    "priority": 2,
    "agent": "",
    "session": "ses_1",
    "turns": ["turn_1", "turn_2"],
    "single": False,
    "metadata": {"closed_at_ms": 1},
}


def test_first_versions_memory_has_the_users_words() -> None:
    read = codec.memory_from_json(orjson.dumps(OLD))
    assert (read.text, read.quote) == (OLD["quote"], OLD["quote"])
    assert (read.turns, read.uses, read.pinned, read.priority) == (("turn_1", "turn_2"), 3, True, 2)
    assert (read.context, read.earlier, read.later, read.batch) == ("", (), (), "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("active", "active"),
        ("superseded", "closed"),
        ("retracted", "closed"),
        ("review", "review"),
        ("quarantined",) * 2,
    ],
)
def test_statuses_of_the_first_version_have_their_successors(old: str, new: str) -> None:
    assert codec.memory_from_json(orjson.dumps(OLD | {"status": old})).status == new


@pytest.mark.parametrize(("old", "new"), [("procedure", "instruction"), ("event", "event"), ("task", "task")])
def test_kinds_of_the_first_version_have_their_successors(old: str, new: str) -> None:
    assert codec.memory_from_json(orjson.dumps(OLD | {"kind": old})).kind == new


@pytest.mark.parametrize("changed", [{"source": "api"}, {"source": "import"}, {"quote": ""}])
def test_text_without_a_quoted_turn_stays(changed: dict[str, str]) -> None:
    assert codec.memory_from_json(orjson.dumps(OLD | changed)).text == "I use Shram at work"


def test_current_statement_keeps_text_beside_quote() -> None:
    memory = codec.memory_from_json(orjson.dumps(OLD | {"context": ""}))
    assert (memory.text, memory.quote) == ("I use Shram at work", OLD["quote"])


def test_turn_of_a_later_version_is_readable() -> None:
    scope = {"tenant": "t", "user": "u", "region": "eu"}
    said = {"id": "m", "role": "user", "text": "x", "tone": "glad"}
    row = {"id": "1", "scope": scope, "messages": [said], "reply": "", "finish": "complete", "model": "m", "mood": 1}
    turn = codec.turn_from_json(orjson.dumps(row | {"at": "2026-01-01T00:00:00Z"}))
    assert (turn.scope, turn.messages) == (Scope("t", "u"), (Said("m", "user", "x"),))


@given(COLUMN_TEXT)
@example("\\ud800")
@example("\\\\0\0\\")
def test_any_text_comes_back_and_is_stored_plain(text: str) -> None:
    stored = Text().process_bind_param(text, DIALECT)
    assert stored is not None
    assert "\0" not in stored
    stored.encode()
    assert Text().process_result_value(stored, DIALECT) == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\\")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert Text().process_bind_param(text, DIALECT) == text
