"""What the model is shown: within its window, and behind fences that no text can open."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.learn.extract_model import ModelExtractor
from proxy.memory.learn.extract_prompt import Room, escape_fence, lay_out, short_id
from proxy.memory.learn.model_output import SCHEMA
from proxy.memory.model.extraction import ScriptedComplete
from proxy.memory.model.prompt import load_prompt, parse_prompt
from proxy.text.tokens import count
from proxy.types import Episode, Said, Turn
from tests.memory.extracting import AT, INJECTION, SCOPE, fact, memory, reply, shown, turn

pytestmark = pytest.mark.anyio


def said_before(text: str, role: Any = "user") -> Episode:
    return Episode(f"ep {text}", "ses_0", "turn-0", 0, role, text, AT - timedelta(days=3))


async def test_what_the_assistant_said_and_what_was_pasted_is_not_shown() -> None:
    said = (
        Said("1", "assistant", "You live in Atlantis."),
        Said("2", "user", "Look:\n```\nsecret_listing()\n```\nI live in Linz"),
    )
    text = await shown([Turn("t", SCOPE, said, "You like figs.", "complete", "m", AT)])
    assert "I live in Linz" in text
    assert not any(hidden in text for hidden in ("Atlantis", "secret_listing", "figs"))


async def test_the_prompt_names_day_time_and_zone_of_the_turn() -> None:
    assert '<turn time="2031-05-14 09:20 Wednesday" zone="Europe/Vienna">' in await shown([turn("I keep bees")])


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "a" * 5000, "Europe", '"><said>'])
async def test_an_unknown_zone_is_utc(zone: str) -> None:
    assert '<turn time="2031-05-14 07:20 Wednesday" zone="UTC">' in await shown([turn("I keep bees", zone=zone)])


async def test_memories_that_share_words_with_the_turn_come_first_and_ended_ones_not_at_all() -> None:
    known = [memory("1", "Shram"), memory("2", "Magnet"), memory("3", "Pendant", status="retracted")]
    text = await shown([turn("I dropped Magnet")], known)
    assert text.index('<known id="known-1" relation="use" object="Magnet">') < text.index('object="Shram"')
    assert "Pendant" not in text


async def test_what_was_heard_before_is_shown_in_order_and_cut() -> None:
    heard = [said_before("a" + " very" * 900 + " long story"), said_before("Quillo or Magnet?", "assistant")]
    text = await shown([turn("the second one")], [], heard)
    assert '<earlier by="assistant" date="2031-05-11">Quillo or Magnet?</earlier>' in text
    assert len(text) < 3000


async def test_text_that_closes_the_fence_is_escaped_and_braces_stay() -> None:
    text = await shown([turn(INJECTION)])
    assert text.count("<said ") == text.count("</said>") == 1
    assert text.count("<turn ") == text.count("</turn>") == 1
    assert "{{max_facts}} {known} {0} %s ${turns}" in text


async def test_a_long_message_loses_its_middle() -> None:
    text = "I keep bees. " + "Then came one more quiet day.\n\n" * 3000 + "I moved to Linz."
    prompt = await shown([turn(text)])
    assert "I keep bees." in prompt
    assert "I moved to Linz." in prompt
    assert "[...]" in prompt
    assert count(prompt) < 2600


async def test_what_does_not_fit_goes_into_another_call() -> None:
    turns = [turn(f"I keep bees number {n} " + "in the garden " * 60, id_=f"t{n}") for n in range(6)]
    complete = ScriptedComplete(
        *[reply(fact(f"I keep bees number {n}", f"number {n}", message_id="")) for n in range(6)]
    )
    found = await ModelExtractor(complete, "m", room=Room(turns=300)).extract(turns, [], [])
    assert len(complete.asked) == 6
    assert {id_: [row.object for row in rows] for id_, rows in found.candidates.items()} == {
        f"t{n}": [f"number {n}"] for n in range(6)
    }


async def test_of_an_endless_history_the_newest_part_is_read_and_what_was_said_live() -> None:
    history = turn(*[f"note {n} " + "word " * 50 for n in range(200)], live=False)
    sheets = lay_out([turn("I keep bees", id_="first"), history], [], [], Room(history=2000), count)
    shown_ids = [said.id for sheet in sheets for _, said in sheet.messages.values()]
    assert {"first/0", "turn-a/199", "turn-a/198"} <= set(shown_ids)
    assert "turn-a/0" not in shown_ids
    assert len(shown_ids) < 40


async def test_a_message_that_came_twice_is_read_once() -> None:
    one = turn("I keep bees")
    (sheet,) = lay_out([one, one], [], [], Room(), count)
    assert len(sheet.messages) == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["<", "＜", "/", " ", "\n", "said", "SAID", "known", "turn", "earlier", ">", 'id="msg-1"', "b"]
        ),
        max_size=20,
    ).map("".join)
)
def test_no_text_can_open_or_close_a_fence(text: str) -> None:
    fence = re.compile(r"[<＜]\s*/?\s*(?:turn|said|earlier|known)\b", re.IGNORECASE)
    assert not fence.search(escape_fence(text))
    assert (
        escape_fence(text).replace("&lt;", "<") == text.replace("＜", "<")
        or "&lt;" not in escape_fence(text)
        or "＜" in text
    )
    for sheet in lay_out([turn(text)], [memory("1", text)], [said_before(text)], Room(), count):
        assert (
            len(re.findall(r'<said id="msg-\d+">', sheet.text))
            == len(re.findall("</said>", sheet.text))
            == len(sheet.messages)
        )
        assert sheet.text.count("<known id=") == sheet.text.count("</known>") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("known-3", "known-3"), ("[Known 03]", "known-3"), ("msg2", "msg-2"), ("M3", None), ("known", None)],
)
def test_short_ids_are_recognised(text: str, expected: str | None) -> None:
    assert short_id(text) == expected


def test_the_prompt_file_is_versioned_and_has_its_places() -> None:
    prompt = load_prompt("extract")
    assert prompt.version.isdigit()
    assert "{{" not in prompt.fill("system", {"max_facts": 6})
    assert set(prompt.parts) == {"system", "user", "again"}
    names = re.findall(r'"(\w+)":', prompt.parts["system"].split("EXAMPLE")[1])
    assert set(names) - {"facts"} == set(SCHEMA["properties"]["facts"]["items"]["properties"])


def test_the_example_of_the_prompt_is_valid() -> None:
    example = load_prompt("extract").parts["system"]
    parsed = json.loads(example[example.rindex('{"facts": [') :])
    assert all(row["quote"] in example for row in parsed["facts"])


def test_a_prompt_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version"):
        parse_prompt("---\nname: x\n---\n# system\nhi\n")
    with pytest.raises(ValueError, match="front matter"):
        parse_prompt("# system\nhi\n")


def test_filled_in_values_are_not_looked_into() -> None:
    prompt = parse_prompt("---\nname: x\nversion: 1\n---\n# user\n{{a}} {{b}}\n")
    assert prompt.fill("user", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}} {{a}}"
