"""Laws of compaction: within the bound, the last turns stay, calls stay with their results, results repeat."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.dialects import chat, messages, responses
from proxy.memory.conversations.compaction import Bounds, Line, Plan, plan

BOUNDS = Bounds(trigger=7500, target=2000, most=9500, summary=200, memory=200, keep_turns=2)


@st.composite
def conversations(draw: st.DrawFn) -> list[Line]:
    lines = [Line("", "system", draw(st.integers(0, 300)))] if draw(st.booleans()) else []
    call = 0
    for turn in range(draw(st.integers(1, 25))):
        weight = st.integers(1, 900)
        lines.append(Line(f"u{turn}", "user", draw(weight), opens=True, is_host=True))
        for step in range(draw(st.integers(0, 6 if turn % 5 == 0 else 1))):
            names = frozenset(f"c{call + n}" for n in range(draw(st.integers(1, 3))))
            call += 3
            lines.append(Line(f"a{turn}.{step}", "assistant", draw(weight), calls=names))
            for name in sorted(names):
                lines.append(Line(f"t{turn}.{step}.{name}", "tool", draw(weight), answers=frozenset({name})))
        if draw(st.booleans()) or turn:
            lines.append(Line(f"r{turn}", "assistant", draw(weight)))
    return lines


def heads(lines: list[Line]) -> list[int]:
    return [index for index, line in enumerate(lines) if line.opens]


def size(lines: list[Line], found: Plan | None) -> int:
    gone = found.dropped if found else frozenset[int]()
    return sum(line.tokens for index, line in enumerate(lines) if index not in gone)


@given(conversations(), st.data())
@settings(max_examples=300, deadline=None)
def test_the_laws(lines: list[Line], data: st.DataObject) -> None:
    worth = dict.fromkeys(data.draw(st.sets(st.sampled_from(heads(lines)), max_size=3)), 1.0)
    found = plan(lines, None, BOUNDS, worth)
    if found is None:
        assert size(lines, None) <= BOUNDS.trigger or len(heads(lines)) <= BOUNDS.keep_turns
        return
    gone = found.dropped
    last = heads(lines)[-1]
    assert last not in gone
    assert len(lines) - 1 not in gone
    assert not any(lines[index].role == "system" for index in gone)
    assert found.host not in gone
    assert lines[found.host].is_host
    stays = [line for index, line in enumerate(lines) if index not in gone]
    calls = {id_ for line in stays for id_ in line.calls}
    assert calls == {id_ for line in stays for id_ in line.answers}
    left = size(lines, found)
    assert left == found.tokens
    two = heads(lines)[-2:][0]
    protected = sum(line.tokens for line in lines[two:]) + sum(line.tokens for line in lines if line.role == "system")
    if protected <= BOUNDS.most:
        assert not any(index >= two for index in gone)
        assert left + found.summary + found.memory <= max(BOUNDS.target, protected + found.summary + found.memory)
        assert left + found.summary + found.memory <= BOUNDS.most
    again = plan(lines, found.state, BOUNDS, worth)
    assert again is not None
    assert again.dropped == gone
    assert again.host == found.host
    if left + BOUNDS.summary + BOUNDS.memory <= BOUNDS.trigger:
        assert again.fresh == ()


@given(conversations(), st.integers(1, 2000))
@settings(max_examples=200, deadline=None)
def test_decision_holds_while_the_conversation_goes_on(lines: list[Line], more: int) -> None:
    found = plan(lines, None, BOUNDS)
    if found is None:
        return
    longer = [*lines, Line("ra", "assistant", 10), Line("u-next", "user", more, opens=True, is_host=True)]
    later = plan(longer, found.state, BOUNDS)
    assert later is not None
    if found.tokens + 10 + more + BOUNDS.summary + BOUNDS.memory <= BOUNDS.trigger:
        assert later.dropped == found.dropped
        assert later.host == found.host
    else:
        assert later.dropped >= found.dropped


def test_a_state_of_another_branch_is_no_state() -> None:
    lines = [Line(f"u{n}", "user", 900, opens=True, is_host=True) for n in range(12)]
    found = plan(lines, None, BOUNDS)
    assert found is not None
    edited = [Line(f"x{n}", "user", 900, opens=True, is_host=True) for n in range(12)]
    other = plan(edited, found.state, BOUNDS)
    assert other is not None
    assert other.fresh == tuple(sorted(other.dropped))


def test_a_turn_of_worth_goes_last() -> None:
    lines = [Line(f"u{n}", "user", 300, opens=True, is_host=True) for n in range(30)]
    found = plan(lines, None, BOUNDS, {3: 3.0})
    assert found is not None
    assert 3 not in found.dropped
    assert {2, 4} <= found.dropped
    assert found.state.kept == {"u3"}


def test_oldest_steps_of_a_long_tool_loop_go() -> None:
    lines = [Line("u", "user", 100, opens=True, is_host=True)]
    for n in range(20):
        lines.append(Line(f"a{n}", "assistant", 300, calls=frozenset({f"c{n}"})))
        lines.append(Line(f"t{n}", "tool", 300, answers=frozenset({f"c{n}"})))
    found = plan(lines, None, BOUNDS)
    assert found is not None
    assert found.host == 0
    assert {1, 2} <= found.dropped
    assert found.tokens <= BOUNDS.target


HISTORY = [
    {"role": "user", "content": "eins"},
    {"role": "assistant", "content": 'zwei \\ü"'},
    {"role": "user", "content": [{"type": "text", "text": "drei"}]},
    {"role": "assistant", "content": "vier"},
    {"role": "user", "content": "fünf"},
]


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("host", [2, 4])
@pytest.mark.parametrize(
    ("dialect", "key", "kind"),
    [(chat, "messages", "text"), (messages, "messages", "text"), (responses, "input", "input_text")],
)
def test_only_what_is_left_out_changes(dialect: object, key: str, kind: str, host: int, compact: bool) -> None:
    value = {"model": "m", key: HISTORY, "seed": 12345678901234567890123, "x": None}
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else (" , ", " : ")).encode()
    drop = {0, 1} if host == 2 else {0, 1, 3}
    found = dialect.condense(body, drop, host, "<memory>\n")  # type: ignore[attr-defined]
    read = json.loads(found)
    expected = json.loads(body)
    grown = expected[key][host]
    if isinstance(grown["content"], str):
        grown["content"] = "<memory>\n" + grown["content"]
    else:
        grown["content"].insert(0, {"type": kind, "text": "<memory>\n"})
    expected[key] = [one for index, one in enumerate(expected[key]) if index not in drop]
    assert read == expected
    assert b"12345678901234567890123" in found
    assert dialect.condense(body, {9}, host, "x") is body  # type: ignore[attr-defined]
