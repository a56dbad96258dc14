"""Tasks in the user's messages: reminders requested, tasks done or cancelled. Pure.

A false task is worse than a missing one: a sentence makes a task if it asks for a reminder, or states what its author
has to do and until when.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache

from proxy.memory.learn.learn import Read
from proxy.memory.learn.records import statement_row
from proxy.memory.learn.statements import Sentence, Statement
from proxy.memory.lifecycle.tasks import PRIORITY, Task, TaskStatus, changed, open_tasks
from proxy.memory.plan.changes import Change
from proxy.text.dates import due_of, without_dates
from proxy.text.languages import Language, languages_in
from proxy.text.languages import words as listed
from proxy.text.lexical import tongue
from proxy.text.terms import Term, holds, plain, terms_in
from proxy.text.words import HAS_CJK, flat, words
from proxy.types import Memory, Said, Turn

URGENT, TRIVIAL = 8, 3  # priorities
MAX_TITLE = 300  # characters
MIN_SHARED = 0.6  # of the shorter of two verbs; forms of one verb share at least this prefix
MIN_PREFIX = 3
_ANY_DAY = datetime(2020, 1, 1, tzinfo=UTC)
_Row = tuple[Memory, Task]
_DONE_WITH = ("done with", "finished with", "fertig mit")


def with_tasks(
    turn: Turn,
    readings: Sequence[Read],
    tasks: Sequence[Memory],
    changes: Sequence[Change],
    now: datetime,
    agent: str = "",
) -> list[Change]:
    """Return a turn's changes, with the tasks that it opens and ends.

    Args:
        turn: The turn.
        readings: Its parsed messages.
        tasks: Visible memories that are tasks.
        changes: Changes of the turn so far.
        now: Time of learning.
        agent: Name of the agent in the conversation.
    """
    made = list(changes)
    current = {row.id: row for row in tasks} | {change.memory.id: change.memory for change in changes}
    for one in readings:
        for sentence in one.found if one.said.live else ():
            task = _stated(sentence, turn)
            if task is not None:
                made = _with(made, turn, sentence, one.said, replace(task, agent=agent), now, current.values())
            else:
                made += _ended(sentence, current.values(), now, turn)
            current |= {change.memory.id: change.memory for change in made}
    return made


def _with(
    changes: list[Change],
    turn: Turn,
    sentence: Sentence,
    said: Said,
    task: Task,
    now: datetime,
    known: Iterable[Memory],
) -> list[Change]:
    """Return changes in which the memory of a sentence carries the task; add a memory if there is none."""
    if any(plain(other.title) == plain(task.title) for _, other in open_tasks(known)):
        return changes
    for at, change in enumerate(changes):
        memory = change.memory
        is_said = plain(memory.text) == plain(sentence.text) or memory.quote == sentence.text
        if change.action in ("add", "reinforce") and is_said:
            return [*changes[:at], replace(change, memory=task.on(memory)), *changes[at + 1 :]]
    row = statement_row(turn, now, Statement(sentence.text, sentence, "task"), said)
    return [*changes, Change("add", task.on(row), None, turn.id, "statement")]


def _stated(sentence: Sentence, turn: Turn) -> Task | None:
    """Return the task that a sentence states, None if it states none."""
    for language in languages_in(sentence.low):
        for name in ("remind", "duty"):
            found = next(language.find(name, sentence.low), None)
            if found is None or not _may_open(language, sentence, found.start()):
                continue
            due = due_of(sentence.text, turn.local_at, tongue(sentence.text))
            if name == "duty" and (due is None or sentence.is_question or _lasts(sentence)):
                continue
            title = _title(sentence, found)
            if name == "duty" and not _names_a_thing(title):
                continue
            if title and any(char.isalnum() for char in title):
                return Task(title, due.isoformat() if due else "", _priority(sentence.low))
    return None


def _names_a_thing(title: str) -> bool:
    """Return whether a title names its verb's object: "hand in the report", not "finish this"."""
    return any([term.text] != _verbs(title)[:1] for term in _terms(title))


def _lasts(sentence: Sentence) -> bool:
    """Return whether a sentence states a duration, not a due date."""
    return not listed("lasting").isdisjoint(word.text for word in words(sentence.low))


def _may_open(language: Language, sentence: Sentence, start: int) -> bool:
    """Return whether only polite words precede a cue in its clause."""
    before = re.split(r"[,;.!?，。；！？]", sentence.low[:start])[-1]
    polite = language.words.get("polite", frozenset())
    if HAS_CJK.search(before):
        return not any(char.isalnum() for char in re.sub("|".join(map(re.escape, polite)) or r"(?!)", "", before))
    return all(word.text in polite or word.text in listed("time") for word in words(before))


def _title(sentence: Sentence, found: re.Match[str]) -> str:
    """Return the title of a task: the text at the cue's place, up to the end of the sentence if it is last."""
    end = found.end("new") if found.end("new") < found.end() else len(sentence.text)
    return sentence.text[found.start("new") : end].strip(" \t\n.,;:!?…。！？，；\"'")[:MAX_TITLE]


def _priority(low: str) -> int:
    tongues = languages_in(low)
    if any(one.has("trivial", low) for one in tongues):
        return TRIVIAL
    return URGENT if any(one.has("urgent", low) for one in tongues) else PRIORITY


def _ended(sentence: Sentence, memories: Iterable[Memory], now: datetime, turn: Turn) -> list[Change]:
    """Return the change by which a sentence ends the one task that it matches; none if it matches several."""
    rows = [] if sentence.is_question else open_tasks(memories)
    if not rows:
        return []
    dropped = _dropped(sentence, rows)
    found = dropped or _done(sentence, rows)
    if len(found) != 1:
        return []
    (row, task) = found[0]
    status: TaskStatus = "cancelled" if dropped else "done"
    return [changed(row, replace(task, status=status), now, turn=turn.id, reason=status)]


def _dropped(sentence: Sentence, tasks: Sequence[_Row]) -> list[_Row]:
    """Return the tasks that a sentence cancels."""
    tongues = languages_in(sentence.low)
    named = [match["new"] for language in tongues for match in language.find("drop", sentence.low)]
    return [
        (row, task)
        for row, task in tasks
        if (terms := _terms(task.title)) and any(all(holds(text, term) for term in terms) for text in named)
    ]


def _done(sentence: Sentence, tasks: Sequence[_Row]) -> list[_Row]:
    """Return the tasks that a sentence states to be done."""
    tongues, code = languages_in(sentence.low), tongue(sentence.text)
    own = [one for one in tongues if one.code == code] or tongues
    if not any(one.has("done", sentence.low) for one in own) or any(one.has("undone", sentence.low) for one in own):
        return []
    return [(row, task) for row, task in tasks if _does(own, sentence, task.title)]


def _does(own: Sequence[Language], sentence: Sentence, title: str) -> bool:
    """Return whether a sentence names the things of a task, and its verb in the past."""
    terms = _terms(title)
    if HAS_CJK.search(title):
        return bool(terms) and all(holds(sentence.text, term) for term in terms)
    said = {word.text for word in words(sentence.low)}
    for verb in _verbs(title):
        things = [term for term in terms if term.text != verb]
        if not things or not all(holds(sentence.text, term) for term in things):
            continue
        is_first = verb == _verbs(title)[0]
        if any(_is_form(verb, word) for word in said) or (is_first and _calls_done(own, sentence, things)):
            return True
    return False


def _calls_done(tongues: Iterable[Language], sentence: Sentence, things: Iterable[Term]) -> bool:
    """Return whether a sentence calls something done: "the tax form is done"."""
    return any(
        all(holds(match["new"], term) for term in things)
        for one in tongues
        for match in one.find("done", sentence.low)
        if match.start("new") == match.start() or match.end("new") < match.end() or match[0].startswith(_DONE_WITH)
    )


def _verbs(title: str) -> list[str]:
    """Return the words of a title that may be its verb: all but articles, pronouns, prepositions and times."""
    idle = frozenset[str]().union(*map(listed, ("article", "mine", "preposition", "time", "and", "third")))
    return [word.text for word in words(flat(title)) if word.text not in idle]


@lru_cache(maxsize=2_000)
def _terms(title: str) -> list[Term]:
    """Return the telling words of a title without its time words."""
    timeless = without_dates(title, _ANY_DAY, tongue(title))
    return [term for term in terms_in(f"- {timeless}") if term.text not in listed("time") and not term.text.isdigit()]


def _is_form(verb: str, word: str) -> bool:
    """Return whether a word is another form of a verb, as "renewed" of "renew"; the same form does not count."""
    forms = _irregular().get(verb)
    if forms is not None and word in forms:
        return True
    if word == verb or not verb:
        return False
    shared = next((at for at, (a, b) in enumerate(zip(verb, word, strict=False)) if a != b), min(len(verb), len(word)))
    inner = word.removeprefix("ge")
    if inner != word and inner[:MIN_PREFIX] == verb[:MIN_PREFIX]:
        shared = max(shared, len(verb) - 2)
    return shared >= MIN_PREFIX and shared >= MIN_SHARED * min(len(verb), len(word))


@cache
def _irregular() -> dict[str, frozenset[str]]:
    """Map the form of an open task's irregular verb to its past forms."""
    rows = [row.split("/") for row in listed("verbs_done")]
    return {first: frozenset(forms) for first, *forms in rows}
