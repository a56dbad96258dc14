"""By which names user and assistant address each other, learnt from the conversations themselves."""

from __future__ import annotations

import functools
import re

import numpy as np

from proxy.memory.index.index import TurnShelf
from proxy.memory.index.postings import Mask
from proxy.text.lexical import tokens
from proxy.types import Role

_MAX_NAMES = 4
_MAX_TURNS = 40  # looked at for a name, the latest of each side
_MIN_CALLS = 3
_CALLED_SHARE = 0.3  # of the turns that hold the name
_MUCH_MORE = 3

# A capital inside a sentence; at its start every word has one.
_NAME = re.compile(r"(?<=[^\W\d_,;:] |[,;:] )[^\W\d_a-z]\w+")


def called(shelf: TurnShelf, text: str, mask: Mask) -> dict[str, Role]:
    """Return the names in ``text`` by which one side calls the other: whom the name means.

    A name means the assistant where the user keeps addressing someone by it ("Thanks, Robin!"), and the user where the
    assistant does.
    """
    found: dict[str, Role] = {}
    for name in list(dict.fromkeys(_NAME.findall(text)))[:_MAX_NAMES]:
        by_user, by_assistant = _calls(shelf, name, mask)
        if _much(by_user, by_assistant):
            found[name] = "assistant"
        elif _much(by_assistant, by_user):
            found[name] = "user"
    return found


def _calls(shelf: TurnShelf, name: str, mask: Mask) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return for user and assistant in how many of their turns they address someone so, and in how many it stands."""
    terms = dict.fromkeys(tokens(name), 1.0)
    lines = np.flatnonzero(shelf.lexical(terms, mask) > 0)
    address = _address(name)
    counts = []
    for is_user in (True, False):
        texts = [shelf.items[line].text for line in lines[shelf.by_user[lines] == is_user][-_MAX_TURNS:]]
        texts = [text for text in texts if name in text]
        counts.append((sum(address.search(text) is not None for text in texts), len(texts)))
    return counts[0], counts[1]


def _much(calls: tuple[int, int], others: tuple[int, int]) -> bool:
    called_, holding = calls
    return called_ >= max(_MIN_CALLS, _CALLED_SHARE * holding) and called_ > _MUCH_MORE * others[0]


@functools.lru_cache(maxsize=2048)
def _address(name: str) -> re.Pattern[str]:
    """Return what a turn looks like that addresses ``name``: at its start behind at most a word, or at an end."""
    word = re.escape(name)
    return re.compile(rf"^\W*(?:\w+[,!.]?\s+)?{word}\s*[,!.]|,\s*{word}\s*[!.?](?:\s|$)")
