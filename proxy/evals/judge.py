"""Judge eval: closings found by a model, and false ones, on cases of forgetting; needs no server."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proxy.errors import ConfigError
from proxy.evals.replay import Progress
from proxy.memory.learn.statements import own_sentences
from proxy.memory.model.call import ModelAccess, connect
from proxy.memory.model.judge import MAX_OLDER, Judgement, JudgementFailed, ModelJudge
from proxy.text import lexical
from proxy.text.segment import is_question, sentences
from proxy.text.words import flat
from proxy.worker.judging import guarded

_TIMEOUT_S = 300.0
_COUNTS = ("cases", "right", "endings", "found", "pairs", "false", "failed")


@dataclass(frozen=True, slots=True)
class Task:
    """One call of the judge.

    Attributes:
        message: The second conversation's messages, joined.
        older: Statements of the first conversation and the nearest ones of other cases, ``MAX_OLDER`` at most.
        ended: Indices of the older statements that the message closes.
    """

    id: str
    lang: str
    kind: str
    message: str
    older: tuple[str, ...]
    ended: tuple[int, ...]


async def judge(
    base_url: str, model: str, path: Path, *, per_kind: Mapping[str, int] | None = None, api_key: str = "none"
) -> dict[str, Any]:
    """Ask a model about each case; count found closings, false closings, and messages judged fully right.

    Args:
        base_url: OpenAI-compatible endpoint, ``/v1`` included.
        model: LiteLLM's name of the model; a name without a provider gets the prefix ``openai/``.
        path: JSON lines with ``id``, ``lang``, ``kind``, ``conversations``, ``present`` and ``absent``.
        per_kind: Number of cases per kind, by language; other languages are skipped. None for all cases.
        api_key: Key sent to the endpoint.

    Returns:
        Counts for all cases under ``all``, by group under ``kinds`` and ``languages``; prompt and completion
        ``tokens``; median ``seconds`` of a call; one record per case under ``items``.

    Raises:
        ConfigError: If the file has the wrong format.
        ProxyError: If the endpoint cannot be reached or answers with an error.
    """
    access = ModelAccess(model if "/" in model else f"openai/{model}", api_key, base_url, _TIMEOUT_S)
    asked = ModelJudge(connect(access), access.model, timeout_s=access.timeout_s)
    tasks = load_tasks(path, per_kind)
    progress = Progress("judge", len(tasks))
    items = []
    for task in tasks:
        items.append(await _item(asked, task))
        progress.advance()
    progress.finish()
    return summarize(items)


def load_tasks(path: Path, per_kind: Mapping[str, int] | None = None) -> list[Task]:
    """Return the tasks of a file of cases, in order.

    Raises:
        ConfigError: If a line has the wrong format.
    """
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        told = {row["id"]: (row["lang"], *_told(row)) for row in rows}
        pools: dict[str, list[str]] = defaultdict(list)
        for lang, statements, _ in told.values():
            pools[lang] += statements
        return [
            _task(row, told[row["id"]][1], told[row["id"]][2], pools[row["lang"]]) for row in _picked(rows, per_kind)
        ]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ConfigError(
            f"{str(path)!r} is not of the format: {error!r}. Each line is a JSON object with id, lang, kind, "
            "conversations (lists of messages), present and absent."
        ) from error


def summarize(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts of all items and of each group, with the items."""
    seconds = sorted(item["seconds"] for item in items)
    return {
        "all": _counted(items),
        "kinds": _grouped(items, "kind"),
        "languages": _grouped(items, "lang"),
        "tokens": {side: sum(item[side] for item in items) for side in ("prompt_tokens", "completion_tokens")},
        "seconds": seconds[len(seconds) // 2] if seconds else None,
        "items": list(items),
    }


async def _item(asked: ModelJudge, task: Task) -> dict[str, Any]:
    begun = time.monotonic()
    try:
        found, failed = await asked.judge(task.message, task.older), False
    except JudgementFailed:
        found, failed = Judgement(), True
    said = own_sentences(task.message)
    targets = tuple(at for at in found.targets if guarded(task.older[at], said, found.words) is not None)
    right, wrong = set(targets) & set(task.ended), set(targets) - set(task.ended)
    return {
        **asdict(task),
        "words": found.words,
        "targets": targets,
        "note": found.note,
        "cases": 1,
        "right": int(targets == task.ended and not failed),
        "endings": len(task.ended),
        "found": len(right),
        "pairs": len(task.older) - len(task.ended),
        "false": len(wrong),
        "failed": int(failed),
        "seconds": time.monotonic() - begun,
        **found.usage,
    }


def _picked(rows: Iterable[Mapping[str, Any]], per_kind: Mapping[str, int] | None) -> list[Mapping[str, Any]]:
    seen: Counter[tuple[str, str]] = Counter()
    picked = []
    for row in rows:
        group = (row["lang"], row["kind"])
        seen[group] += 1
        if per_kind is None or seen[group] <= per_kind.get(row["lang"], 0):
            picked.append(row)
    return picked


def _told(row: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the statements of the first conversation and the message of the second."""
    first, *others = row["conversations"]
    if others:
        return _statements(first), " ".join(others[0])
    return _statements(first[:-1]), first[-1]


def _statements(messages: Iterable[str]) -> list[str]:
    every = [text[start:end] for text in messages for start, end in sentences(text)]
    return [one for one in every if not is_question(one, flat(one))] or every


def _task(row: Mapping[str, Any], own: Sequence[str], message: str, pool: Iterable[str]) -> Task:
    terms = set(lexical.content(message))
    nearest = sorted(
        (one for one in dict.fromkeys(pool) if one not in own),
        key=lambda one: (-len(terms.intersection(lexical.content(one))), _hash(one)),
    )
    older = sorted([*own[:MAX_OLDER], *nearest[: max(0, MAX_OLDER - len(own))]], key=_hash)
    # "restate": the second conversation closes what the third one states again.
    gone = [one.casefold() for one in (row["present"] if row["kind"] == "restate" else row["absent"])]
    ended = tuple(
        index for index, one in enumerate(older) if one in own and any(value in one.casefold() for value in gone)
    )
    return Task(row["id"], row["lang"], row["kind"], message, tuple(older), ended)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _counted(items: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    rows = list(items)
    return {name: sum(row[name] for row in rows) for name in _COUNTS}


def _grouped(items: Sequence[Mapping[str, Any]], by: str) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(item[by] for item in items)
    return {name: _counted(item for item in items if item[by] == name) for name in names}
