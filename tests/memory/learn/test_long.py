"""Learning from a message costs no more than its length, up to a ceiling, whatever stands in it."""

from __future__ import annotations

import base64
import gc
import json
import random
import time
from collections.abc import Callable, Iterator

import pytest

from proxy.memory.conversations.transcript import pieces_of
from proxy.memory.learn.learn import MAX_CAME_ALONG, read
from proxy.text.fence import line, without_blocks
from proxy.text.lexical import tokens, tongue
from proxy.text.secrets import redact
from proxy.types import Said, Scope, Turn
from tests.memory.learn.world import START, World

_LENGTH = 60_000
_MAX_CPU_MS_A_KB = 30.0  # of a loaded machine; what is not linear takes hundreds
_MAX_GROWTH = 3.0
_FLOOR_MS = 100.0


def _bytes(length: int) -> bytes:
    return random.Random(length).randbytes(length)


def _prose(length: int) -> str:
    chosen = random.Random(7)
    words = [
        "garden",
        "train",
        "music",
        "river",
        "winter",
        "coffee",
        "letter",
        "window",
        "morning",
        "bridge",
        "simple",
        "kitchen",
        "yellow",
        "market",
    ]
    told = ("I went past the", "My sister likes the", "We talked about the", "I keep a")
    made = [f"{chosen.choice(told)} {' '.join(chosen.choices(words, k=8))}." for _ in range(length // 50)]
    return " ".join(made)[:length]


def _listed(length: int) -> str:
    return "I use " + ", ".join(f"Tool{number}" for number in range(length // 9)) + "."


TEXTS: dict[str, Callable[[int], str]] = {
    "digits": lambda n: "4" * n,
    "a fact and digits": lambda n: "I live in Oslo. My number is " + "4" * n,
    "prose": _prose,
    "a list": _listed,
    "and and and": lambda n: "I use x and y and " * (n // 18),
    "JSON": lambda n: json.dumps(
        [{"id": at, "name": "river", "on": None} for at in range(n // 36)], separators=(",", ":")
    ),
    "base64": lambda n: base64.b64encode(_bytes(n * 3 // 4)).decode(),
    "hex": lambda n: "\n".join(_bytes(16).hex(" ") for _ in range(n // 48)),
    "numbers": lambda n: "\n".join("12.5,13.25,0.125,99.0" for _ in range(n // 22)),
    "log": lambda n: "\n".join(f"2026-01-05 09:00:{at % 60:02} INFO svc[{at}] done in 12 ms" for at in range(n // 42)),
    **{
        f"{unit!r}": lambda n, unit=unit: unit * (n // len(unit))  # type: ignore[misc]
        for unit in (
            *(
                " ",
                "\n",
                "a ",
                "(",
                '{"a":',
                "<a>",
                "<!--",
                "\U0001f468\u200d",
                "a\u0301",
                ",",
                "\ufdfa",
                '"a',
                "“a",
                "> ",
            ),
            *(
                "I ",
                "not ",
                "forget ",
                "my a is b ",
                "I like A, B. ",
                "我不再",
                "- a\n",
                "```",
                "<memory ",
                "a.",
                "http://a",
            ),
            *("password is ", "next Friday ", "I meant ", "I no longer ", "<file>", "I live in ", "и ", "?", "Dr. "),
        )
    },
}


@pytest.fixture(autouse=True, scope="module")
def no_collections() -> Iterator[None]:
    """A collection costs as much as all else here, whenever it comes."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _cost_ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


@pytest.mark.parametrize("name", TEXTS)
def test_learning_is_linear_and_cheap(name: str) -> None:
    """With something said before, as what a message ends is sought there."""
    World().say(TEXTS[name](_LENGTH // 4))  # phrases are compiled when a text first holds them
    whole = _learning_ms(TEXTS[name](_LENGTH))
    if whole < _FLOOR_MS:
        return
    half = _learning_ms(TEXTS[name](_LENGTH // 2))
    assert whole < _MAX_GROWTH * half, (half, whole)
    assert whole / (_LENGTH / 1000) < _MAX_CPU_MS_A_KB, whole


def _learning_ms(text: str) -> float:
    world = World()
    world.say("I use Shram and Magnet as productivity tools. I live in Leeds.")
    return _cost_ms(lambda: world.say(text))


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_done_with_every_message_is_linear(name: str) -> None:
    """A suspect is measured again: milliseconds of a busy machine grow by themselves."""
    short, long = (TEXTS[name](length) for length in (_LENGTH, 2 * _LENGTH))
    for work in (redact, without_blocks, line, tokens, tongue, lambda text: pieces_of("user", text)):
        if _least_ms(work, long, 1) < _FLOOR_MS:
            continue
        for times in (2, 5):
            costs = [_least_ms(work, text, times) for text in (short, long)]
            if is_linear := costs[1] < _MAX_GROWTH * costs[0]:
                break
        assert is_linear, (work, costs)


def _least_ms(work: Callable[[str], object], text: str, times: int) -> float:
    return min(_cost_ms(lambda: work(text)) for _ in range(times))


@pytest.mark.parametrize("name", ["JSON", "base64", "hex", "numbers", "log"])
def test_data_is_no_statement_of_the_user(name: str) -> None:
    world = World()
    world.say(TEXTS[name](_LENGTH))
    assert world.active == []


def test_newest_part_of_a_long_history_is_read() -> None:
    said = [Said(f"m{at}", "user", f"My box {at} holds tea.", at == 5_000, at) for at in range(5_001)]
    turn = Turn("t", Scope("0" * 32, "1" * 32), tuple(said), "OK.", "complete", "m", START, "r", 5_001)
    found = [one.said.id for one in read(turn)]
    assert found[-1] == "m5000"
    assert MAX_CAME_ALONG <= len(found) <= MAX_CAME_ALONG + 1
    assert found == [f"m{at}" for at in range(5_001 - len(found), 5_001)]
