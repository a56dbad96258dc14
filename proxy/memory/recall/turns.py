"""Scores of earlier turns for a query: words and cosine, value as evidence, and the speaker meant."""

from __future__ import annotations

import functools
import re
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proxy.clock import to_ms
from proxy.memory.index.index import TurnShelf
from proxy.memory.index.postings import Mask, Scores
from proxy.memory.recall import tuning
from proxy.memory.recall.gate import asks_of_oneself
from proxy.memory.recall.query import Query, asks_for_advice, is_of_oneself, prefers
from proxy.memory.recall.rank import best, economy, fuse, shared_out, thinned, varied
from proxy.text.lexical import content, tokens
from proxy.types import Role

_HALF_LIFE_MS = tuning.RECENT_HALF_LIFE_DAYS * 86_400_000
MAX_EMPTY = 40  # characters of a reply that may have no content word

_MAX_NAMES = 4
_MAX_TURNS = 40  # latest turns of each side that are searched for a name
_MIN_CALLS = 3
_CALLED_SHARE = 0.3  # of the turns that hold the name
_MUCH_MORE = 3

# A capital inside a sentence; at its start every word has one.
_NAME = re.compile(r"(?<=[^\W\d_,;:] |[,;:] )[^\W\d_a-z]\w+")


@dataclass(frozen=True, slots=True)
class Likeness:
    """Lexical and dense scores of all turns and of the windows of three around them."""

    words: Scores
    cosines: Scores
    words_around: Scores
    cosines_around: Scores

    def fused(self, lengths: NDArray[np.int32], mask: Mask, *, is_told: bool) -> Scores:
        """Return one score per line; the longer a turn, the less the window around it counts.

        Args:
            lengths: Characters of each line.
            mask: The visible lines.
            is_told: True if the user states something and does not only ask.
        """
        long_shares = tuning.LONG_TURN_WEIGHTS_TOLD if is_told else tuning.LONG_TURN_WEIGHTS_ASKED
        length = np.clip((lengths - tuning.SHORT_TURN) / (tuning.LONG_TURN - tuning.SHORT_TURN), 0, 1)
        lists = (self.words, self.cosines, self.words_around, self.cosines_around)
        shares: list[float | Scores] = [
            (short + (long - short) * length).astype(np.float32)
            for short, long in zip(tuning.SHORT_TURN_WEIGHTS, long_shares, strict=True)
        ]
        return fuse(list(zip(lists, shares, strict=True)), mask)


@dataclass(frozen=True, slots=True)
class _Traits:
    """Traits of the texts on a shelf, by line.

    Args:
        only_asks: Turns that only ask and say nothing about the speaker.
        is_empty: Replies without a content word: "OK."
        is_continued: Pieces of a long message after the first.
        messages: Number of messages by session.
        conversations: Session number of each line.
        numbers: Session number by session id.
    """

    only_asks: Mask
    is_empty: Mask
    is_continued: Mask
    messages: Counter[str]
    conversations: NDArray[np.int32]
    numbers: Mapping[str, int]


_known: weakref.WeakKeyDictionary[TurnShelf, _Traits] = weakref.WeakKeyDictionary()


def likeness(shelf: TurnShelf, query: Query, terms: Mapping[str, float], mask: Mask) -> Likeness:
    """Return the lexical and dense scores of all turns for a query."""
    words = dict(terms)
    return Likeness(
        shelf.lexical(words, mask),
        shelf.dense(query.vector, mask),
        shelf.window_lexical(words, mask),
        shelf.window_dense(query.vector, mask),
    )


def supported(shelf: TurnShelf, scores: Scores) -> Scores:
    """Return the scores, raised by the best scores of the same session.

    Most topics are discussed in more than one turn. Gain on LoCoMo and BEAM: half a point to one.
    """
    traits = _traits(shelf)
    lines = np.array(best(scores, tuning.BEST_TURNS), dtype=np.int64)
    lines = lines[np.argsort(traits.conversations[lines], kind="stable")]  # the best of each session first
    numbers = traits.conversations[lines]
    places = np.arange(len(lines)) - np.searchsorted(numbers, numbers)
    first = places < tuning.SUPPORTERS
    sums = np.bincount(numbers[first], scores[lines[first]], len(traits.numbers)).astype(np.float32)
    support = sums[traits.conversations] / tuning.SUPPORTERS
    return np.where(scores > 0, scores + np.float32(tuning.SUPPORT) * support, 0)


def worth(shelf: TurnShelf, query: Query, speakers: Mapping[str, Role]) -> Scores:
    """Return a factor per line: the value of a turn as evidence, whatever its topic.

    Measured on the public sets: pieces of long messages take the budget of the users' own statements, and a query that
    states something continues recent topics.
    """
    traits = _traits(shelf)
    factors = economy(shelf.lengths, shelf.by_user)
    factors *= np.where(traits.only_asks, np.float32(tuning.QUESTION_FACTOR), 1)
    factors *= np.where(traits.is_empty, np.float32(0), 1)
    factors *= np.where(_in_pieces(shelf, traits), np.float32(tuning.PIECE_FACTOR), 1)
    meant = set(speakers.values()) or ({"user"} if asks_of_oneself(query.text) else set())
    if len(meant) == 1:
        factors *= np.where(shelf.by_user == (meant == {"user"}), np.float32(tuning.MEANT_FACTOR), 1)
    if query.says and query.as_of is None:
        ages = np.maximum(to_ms(query.now) - shelf.times, 0)
        factors *= (1 + tuning.RECENT_BONUS * np.exp2(-ages / _HALF_LIFE_MS)).astype(np.float32)
    return factors


def preferred(shelf: TurnShelf, scores: Scores, query: Query) -> Scores:
    """Return the scores, raised for the best turns with a preference, if the query asks for advice.

    Preferences seldom share words with a request for advice.
    """
    if not asks_for_advice(query.text) or query.is_of_replies:
        return scores
    raised = scores.copy()
    for line in best(scores, tuning.MAX_PREFERENCES):
        if shelf.by_user[line] and prefers(shelf.items[line].text):
            raised[line] *= tuning.PREFERENCE_FACTOR
    return raised


def with_answers(shelf: TurnShelf, scores: Scores) -> Scores:
    """Return the scores with a share of each question's score added to the next turn."""
    asked = np.append(np.where(_traits(shelf).only_asks, scores, 0), 0).astype(np.float32)  # line -1
    return np.where(scores > 0, scores + np.float32(tuning.ANSWER_SHARE) * asked[shelf.neighbours.before], 0)


def with_reply(shelf: TurnShelf, scores: Scores, plain: Scores, query: Query) -> Scores:
    """Return the scores with one message and its full reply first, if the query is about an earlier reply.

    Other queries discount long replies; this one needs one of them.

    Args:
        shelf: The turns.
        scores: Scores by which turns are ranked for any question.
        plain: Relevance of each turn, without its value as evidence.
        query: The question.
    """
    if not query.is_of_replies or query.is_across or query.says:
        return scores
    values: dict[int, tuple[float, float]] = {}  # by the user's line: its own score, the reply's best
    for line in best(plain, tuning.BEST_TURNS):
        if not shelf.by_user[line] and (asked := _replied_to(shelf, line)) is not None and scores[asked] > 0:
            value = max(float(plain[line]), values.get(asked, (0.0, 0.0))[1])
            values[asked] = float(plain[asked]), value
    if not values:
        return scores
    asked = max(values, key=lambda line: sum(values[line]))
    exchange = [line for line in (asked, *_reply(shelf, asked)) if scores[line] > 0]
    raised = scores.copy()
    raised[exchange] = float(scores.max()) * (1 + 0.001 * np.arange(len(exchange), 0, -1))
    return raised


def _replied_to(shelf: TurnShelf, line: int) -> int | None:
    """Return the line of the user's turn that a reply, or a piece of one, follows."""
    while line >= 0 and not shelf.by_user[line]:
        line = int(shelf.neighbours.before[line])
    return line if line >= 0 else None


def _reply(shelf: TurnShelf, line: int) -> Iterator[int]:
    """Yield the lines of the reply to a user's turn, in order."""
    while (line := int(shelf.neighbours.after[line])) >= 0 and not shelf.by_user[line]:
        yield line


def spaced(shelf: TurnShelf, lines: Sequence[int], scores: Scores, query: Query) -> list[tuple[int, float]]:
    """Return lines, given best first, and their scores in a new order that mixes sessions.

    Most questions are answered by one session, so the first turns stay first; a statement continues several sessions.
    A question across sessions is answered by a part of each.
    """
    sessions = [shelf.items[line].session for line in lines]
    values = [float(scores[line]) for line in lines]
    if query.is_across:
        values = shared_out(values, sessions)
        order = sorted(range(len(lines)), key=lambda at: -values[at])
        return [(lines[at], values[at]) for at in order]
    if query.says:
        values = thinned(values, sessions, _traits(shelf).messages)
    order = sorted(range(len(lines)), key=lambda at: -values[at])
    lead, until = tuning.OTHERS_FIRST_TOLD if query.says else tuning.OTHERS_FIRST_ASKED
    places = varied([sessions[at] for at in order], lead, until)
    return list(zip([lines[order[at]] for at in places], sorted(values, reverse=True), strict=True))


def without_names(terms: Mapping[str, float], names: Mapping[str, Role]) -> dict[str, float]:
    """Return the terms without a speaker's name: turns that hold it address the speaker, and are by the other side."""
    named = {term for name in names for term in tokens(name)}
    left = {term: weight for term, weight in terms.items() if term not in named}
    return left if any(weight >= 1 for weight in left.values()) else dict(terms)


def called(shelf: TurnShelf, text: str, mask: Mask) -> dict[str, Role]:
    """Return the names in ``text`` by which one side addresses the other, with the role of the named side.

    A name is the assistant's if the user keeps addressing someone by it ("Thanks, Robin!"), and the user's if the
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
    """Return, for user and assistant, how many of their turns address someone by a name, and how many hold it."""
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
    """Return the pattern of an address by ``name``: at a turn's start after at most a word, or at a sentence's end."""
    word = re.escape(name)
    return re.compile(rf"^\W*(?:\w+[,!.]?\s+)?{word}\s*[,!.]|,\s*{word}\s*[!.?](?:\s|$)")


def _in_pieces(shelf: TurnShelf, traits: _Traits) -> Mask:
    following = np.append(traits.is_continued, np.False_)[shelf.neighbours.after]
    pieces: Mask = traits.is_continued | (following & ~shelf.by_user)
    return pieces


def _traits(shelf: TurnShelf) -> _Traits:
    """Return the traits of all lines; the caller holds the shelf's lock."""
    known = _known.get(shelf)
    count = 0 if known is None else len(known.only_asks)
    if known is not None and count == len(shelf.items):
        return known
    new = shelf.items[count:]
    asks = np.array([_only_asks(turn.text) for turn in new], dtype=np.bool_)
    empty = np.array([turn.role == "assistant" and _is_empty(turn.text) for turn in new], dtype=np.bool_)
    continued = np.array([turn.piece > 0 for turn in new], dtype=np.bool_)
    messages = Counter(turn.session for turn in new if turn.piece == 0)
    numbers = {} if known is None else dict(known.numbers)
    conversations = np.array([numbers.setdefault(turn.session, len(numbers)) for turn in new], dtype=np.int32)
    if known is not None:
        asks, continued = np.append(known.only_asks, asks), np.append(known.is_continued, continued)
        empty = np.append(known.is_empty, empty)
        messages.update(known.messages)
        conversations = np.append(known.conversations, conversations)
    found = _known[shelf] = _Traits(asks, empty, continued, messages, conversations, numbers)
    return found


def _is_empty(text: str) -> bool:
    return len(text) < MAX_EMPTY and not content(text)


def _only_asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "؟")) and not is_of_oneself(text)
