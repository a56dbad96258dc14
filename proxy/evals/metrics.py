"""Metrics: share of the evidence in an injected text, and the shares of a random control and an oracle. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from Stemmer import Stemmer

from proxy.text import tokens

EVIDENCE_SHARE = 0.6
ANSWER_SHARE = 0.8
_GRAM = 3
_FOREIGN_GRAM = 8
_MISSES = 50
_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"^(?:User: |Assistant: |- )", re.MULTILINE)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_UNIT = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
_stemmer = Stemmer("english")


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the English stem of a lower-case word."""
    return str(_stemmer.stemWord(word))


def words(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return _WORD.findall(text.lower())


def units(text: str) -> list[str]:
    """Return the lower-case words of a text; in scripts without spaces, single characters."""
    return _UNIT.findall(text.lower())


_STOP_WORDS = frozenset(
    words(
        """
        a about above after all also am an and any are as at be because been before being both but by can could
        did do does doing for from had has have having he her here hers him his how i if in into is it its just
        like likely me more most my no not of on or other our ours out over own she so some such than that the
        their them then there these they this those through to too under up very was we were what when where
        which while who whom why will with would yes you your yours s t d ll m re ve
        """
    )
)


def grams(text: str) -> set[tuple[str, ...]]:
    """Return the word 3-grams of a text; a shorter text gives one gram of all its words."""
    found = words(text)
    width = min(_GRAM, len(found))
    return {tuple(found[at : at + width]) for at in range(len(found) - width + 1)} if width else set()


class Injected:
    """An injected text, indexed once for many comparisons."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens.count(text) if text else 0
        self._words = words(text)
        self._grams: dict[int, dict[tuple[str, ...], int]] = {}
        self._stems: frozenset[str] | None = None

    def holds(self, message: str) -> bool:
        """Return whether at least 60 % of a message's word 3-grams occur in the text."""
        wanted = grams(message)
        return bool(wanted) and len(wanted & self._index(wanted).keys()) >= EVIDENCE_SHARE * len(wanted)

    def position(self, message: str, other: str) -> int | None:
        """Return a message's word position: the median of its 3-grams that ``other`` lacks; None if none is there.

        The first phrase is unreliable, as common phrases ("can you help me") occur elsewhere too.
        """
        wanted = grams(message) - grams(other)
        index = self._index(wanted)
        places = sorted(index[gram] for gram in wanted if gram in index)
        return places[len(places) // 2] if places else None

    def answers(self, answer: str | None) -> bool | None:
        """Return whether 80 % of the answer's stemmed content words occur in the text; None if it has none."""
        wanted = content_stems(answer or "")
        if not wanted:
            return None
        if self._stems is None:
            self._stems = content_stems(self.text)
        return len(wanted & self._stems) >= ANSWER_SHARE * len(wanted)

    def foreign_grams(self, own: set[int], others: set[int]) -> int:
        """Count word 8-grams within lines, without Throughline's labels, that only another user wrote."""
        lines = _LABEL.sub("", self.text).splitlines()
        found = set().union(*(fingerprints(words(line)) for line in lines))
        return len((found & others) - own)

    def _index(self, wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
        width = max((len(gram) for gram in wanted), default=_GRAM)
        if width not in self._grams:
            positions = range(len(self._words) - width, -1, -1)
            self._grams[width] = {tuple(self._words[at : at + width]): at for at in positions}
        return self._grams[width]


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of content words; in scripts without spaces, pairs of characters."""
    found: set[str] = set()
    for word in words(text):
        if _UNSPACED.search(word) is not None:
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            found.add(stem(word))
    return frozenset(found)


def fingerprints(found: Sequence[str]) -> set[int]:
    """Return hashes of the word 8-grams, to detect texts leaked to another user."""
    return {hash(tuple(found[at : at + _FOREIGN_GRAM])) for at in range(len(found) - _FOREIGN_GRAM + 1)}


@dataclass(frozen=True, slots=True)
class Gold:
    """Evidence for a question, as groups of messages; a group is found if any of its messages is.

    A group has one message if messages are labelled, or all messages of a session if sessions are.
    """

    groups: tuple[tuple[str, ...], ...]

    def found(self, texts: Sequence[Injected]) -> float:
        """Return the fraction of groups with a message in one of the texts."""
        return 1 - len(self.missed(texts)) / len(self.groups)

    def missed(self, texts: Sequence[Injected]) -> list[tuple[str, ...]]:
        """Return the groups without a message in any of the texts."""
        return [group for group in self.groups if not any(text.holds(one) for text in texts for one in group)]


def pack(messages: Iterable[str], budget: int) -> str:
    """Join messages up to ``budget`` tokens; skip those that do not fit as a whole."""
    taken: list[str] = []
    left, misses = budget, 0
    for message in messages:
        size = tokens.count(message) + 1
        if size <= left:
            taken.append(message)
            left -= size
        else:
            misses += 1
        if left < budget // 50 or misses > _MISSES:
            break
    return "\n".join(taken)


def random_control(pool: Sequence[str], budget: int, seed: str) -> Injected:
    """Return the random control: randomly chosen messages within the same budget."""
    shuffled = list(pool)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a control, not a secret
    return Injected(pack(shuffled, budget))


def oracle(gold: Gold, budget: int) -> Injected:
    """Return the oracle: the labelled messages within the same budget."""
    shortest = sorted((_best(group) for group in gold.groups), key=len)
    whole = pack(shortest, budget)
    rest = [message for message in shortest if message not in whole]
    room = (budget - tokens.count(whole)) * 3 if rest else 0
    return Injected(f"{whole}\n{rest[0][:room]}" if room > 0 else whole)


def common_prefix(left: str, right: str) -> int:
    """Return the length of the common prefix in characters."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left.startswith(right[:middle]) else (low, middle - 1)
    return low


def mean(values: Iterable[float | bool | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the percentile of the values at ``share`` (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def injected_text(sent: Sequence[Mapping[str, object]], received: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the texts in the received messages that are not in the sent ones.

    Args:
        sent: The client's messages.
        received: The messages that reached the upstream: the same ones in order, some longer, and new ones.
    """
    added: list[str] = []
    at = 0
    for message in received:
        text = flatten(message.get("content"))
        original = flatten(sent[at].get("content")) if at < len(sent) else None
        same_role = at < len(sent) and message.get("role") == sent[at].get("role")
        if original is None or not same_role or original not in text:
            added.append(text)
            continue
        at += 1
        added += [part for part in _around(text, original) if part.strip()]
    return added


def flatten(content: object) -> str:
    """Return the text of a message's content, whether a string or parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _around(text: str, original: str) -> tuple[str, str]:
    if text.endswith(original):  # a block before the client's text; the block may quote it
        return text[: len(text) - len(original)], ""
    before, _, after = text.partition(original)
    return before, after


def _best(group: Sequence[str]) -> str:
    telling = [message for message in group if len(words(message)) > _GRAM]
    return min(telling or group, key=len)
