"""Loader of datasets: conversations with questions, in one format, for replay as traffic.

A dataset is two JSON Lines files, plain or gzipped. A line of ``sessions`` is one conversation::

    {"user": "ada", "session_id": "ada/1", "date": "2026-01-05T18:30:00",
     "messages": [{"role": "user", "content": "…", "src_ids": ["1:1"]}, {"role": "assistant", …}]}

A line of ``questions`` is asked in a new conversation once all sessions (``"after": "all"``) or the named one are
stored; the gold ids name the messages that hold the answer, or only their sessions::

    {"user": "ada", "qid": "ada/q1", "category": "single-hop", "question": "…", "answer": "…",
     "gold_src_ids": ["1:1"], "gold_session_ids": ["ada/1"], "after": "all"}
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from proxy.errors import ConfigError
from proxy.settings.load import environment

T = TypeVar("T")
DATA_VARIABLE = "THROUGHLINE_DATA"
NEIGHBOUR = Path("../shared/data")
APART = frozenset({"adversarial"})  # asked and shown, but excluded from means
_SESSION_GOLD = frozenset({"realmem", "halumem3"})  # their labels name sessions, not messages


@dataclass(frozen=True, slots=True)
class Line:
    """A message, with the labels by which questions cite it."""

    role: str
    content: str
    labels: tuple[str, ...] = ()

    def wire(self) -> dict[str, str]:
        """Return the message in the wire format of chat completions."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a user."""

    user: str
    id: str
    date: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about earlier sessions.

    Args:
        after: Id of the session that must be stored before the question, or ``all``.
        gold: Labels of the messages that hold the answer.
        gold_sessions: Ids of the sessions that hold the answer.
        outdated: Labels of the messages with the outdated value.
        updated: Labels of the messages with the current value.
    """

    user: str
    id: str
    category: str
    text: str
    after: str = "all"
    answer: str | None = None
    gold: tuple[str, ...] = ()
    gold_sessions: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    """A user with all sessions in order of time, and questions about them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    def lines(self) -> Iterator[tuple[Session, Line]]:
        """Yield every message with its session, in order."""
        for session in self.sessions:
            for line in session.lines:
                yield session, line


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named dataset; ``gold_is_sessions`` is True if its labels name sessions, not messages."""

    name: str
    people: tuple[Person, ...]
    gold_is_sessions: bool = False

    def limited(self, questions: int | None) -> Dataset:
        """Return a sample of about ``questions`` evenly spaced questions, from as few people as possible."""
        if questions is None:
            return self
        each = max(1, *(len(person.questions) for person in self.people))
        people = _spread(self.people, -(-questions // each))
        share = -(-questions // len(people))
        few = tuple(replace(person, questions=_spread(person.questions, share)) for person in people)
        return replace(self, people=few)


def data_folder(given: Path | None) -> Path:
    """Return the folder of the datasets: as given, from the environment, or next to the checkout.

    Raises:
        ConfigError: If there is none; the message explains the format of own data.
    """
    named = given or (Path(environment()[DATA_VARIABLE]) if environment().get(DATA_VARIABLE) else None)
    folder = named or NEIGHBOUR
    if folder.is_dir():
        return folder
    raise ConfigError(
        f"There is no folder {str(folder)!r} with conversations to replay. Name one with --data DIR or "
        f"{DATA_VARIABLE}. To measure on your own, put sessions.jsonl and questions.jsonl into it:\n{__doc__}"
    )


def load_set(folder: Path, name: str) -> Dataset:
    """Read the dataset ``name`` (``own`` for two files in the folder itself).

    Raises:
        ConfigError: If its files are missing or a line has the wrong format.
    """
    if name == "memdaily_zh":
        return _memdaily(folder / name)
    place = folder if name == "own" else folder / "traffic" / name
    try:
        sessions = [_session(row) for row in _rows(_file(place, "sessions"))]
        questions = [_question(row) for row in _rows(_file(place, "questions"))]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"The set in {str(place)!r} is not of the format: {error!r}.\n{__doc__}") from error
    return Dataset(name, _people(sessions, questions), name in _SESSION_GOLD)


def default_set(folder: Path) -> str:
    """Return the default dataset: LoCoMo if present, otherwise the folder's own files."""
    return "locomo" if (folder / "traffic" / "locomo").is_dir() else "own"


def _spread(items: Sequence[T], count: int) -> tuple[T, ...]:
    """Return ``count`` evenly spaced items, beginning with the first."""
    taken = min(count, len(items))
    return tuple(items[len(items) * at // taken] for at in range(taken))


def _file(place: Path, noun: str) -> Path:
    names = [f"{noun}{part}.jsonl{end}" for part in ("", ".open") for end in ("", ".gz")]
    for name in names:
        if (place / name).is_file():
            return place / name
    raise ConfigError(f"The folder {str(place)!r} holds none of {', '.join(names)}.\n{__doc__}")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    packed = path.read_bytes()
    text = gzip.decompress(packed) if path.suffix == ".gz" else packed
    for line in text.splitlines():
        if line.strip():
            yield json.loads(line)


def _session(row: Mapping[str, Any]) -> Session:
    lines = tuple(
        Line(message["role"], message["content"], _labels(message.get("src_ids")))
        for message in row["messages"]
        if message["content"].strip()
    )
    datetime.fromisoformat(row["date"])
    return Session(row["user"], row["session_id"], row["date"], lines)


def _question(row: Mapping[str, Any]) -> Question:
    old, new = (*(row.get("update_ids") or ()), None, None)[:2]
    answer = row.get("answer")
    return Question(
        user=row["user"],
        id=row["qid"],
        category=row.get("category") or "all",
        text=row["question"],
        after=row.get("after") or "all",
        answer=None if answer is None else str(answer),
        gold=_labels(row.get("gold_src_ids")),
        gold_sessions=_labels(row.get("gold_session_ids")),
        outdated=_labels(old),
        updated=_labels(new),
    )


def _labels(raw: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(label) for label in raw or ()))


def _people(sessions: list[Session], questions: list[Question]) -> tuple[Person, ...]:
    people = []
    for user in dict.fromkeys(session.user for session in sessions):
        own = sorted((one for one in sessions if one.user == user), key=lambda one: one.date)
        asked = tuple(one for one in questions if one.user == user)
        people.append(Person(user, tuple(own), asked))
    return tuple(people)


def _memdaily(place: Path) -> Dataset:
    """Read MemDaily's format: each list of dated statements becomes a user, each day of it a session."""
    people = []
    for path in sorted(place.glob("*.json")):
        for one in json.loads(path.read_text(encoding="utf-8")):
            user = f"{path.stem}/{one['tid']}"
            people.append(Person(user, _days(user, one["message_list"]), _asked(user, one["question_list"])))
    if not people:
        raise ConfigError(f"The folder {str(place)!r} holds no *.json of MemDaily.")
    return Dataset("memdaily_zh", tuple(people))


def _days(user: str, statements: list[dict[str, Any]]) -> tuple[Session, ...]:
    days: dict[str, list[Line]] = {}
    for said in statements:
        day = datetime.strptime(said["time"].split()[0], "%Y年%m月%d日").date().isoformat()  # noqa: DTZ007 - a date
        days.setdefault(day, []).append(Line("user", said["message"], (str(said["mid"]),)))
    return tuple(Session(user, f"{user}/{day}", f"{day}T12:00:00", tuple(lines)) for day, lines in days.items())


def _asked(user: str, questions: list[dict[str, Any]]) -> tuple[Question, ...]:
    return tuple(
        Question(
            user=user,
            id=f"{user}/q{one['qid']}",
            category=user.split("/", maxsplit=1)[0],
            text=one["question"],
            answer=one["answer"],
            gold=_labels(one["target_step_id"]),
        )
        for one in questions
    )
