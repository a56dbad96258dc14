"""Loader of scenarios: conversations of a user, and questions with strings that must and must not be injected.

``memory.jsonl`` has one case per line, ``stories.json`` a list of stories; a folder may have either::

    {"id": "tea", "kind": "update", "lang": "en", "conversations": [["I drink tea."], ["I drink coffee now."]],
     "probe": "What do I drink?", "present": ["coffee"], "resolved": [["tea", "coffee"]]}
    [{"id": "ada", "lang": "en", "ask": {"time": "2026-06-20T10:00:00Z"}, "conversations": [{"user": ["…"]}],
      "questions": [{"probe": "…", "present": ["…"]}]}]

A question has the checks of `verdict.Check`; ``conversations`` has the steps of `actor`. A case may have several
``probes`` with their own checks; the checks ``memories_present``, ``memories_absent``, ``memories_once`` and
``max_memories`` on the active memories; and ``upstream_absent`` on the whole request that a question sends upstream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.errors import ConfigError
from proxy.evals.actor import Step
from proxy.evals.verdict import AnyOf, Check, find, unguarded


@dataclass(frozen=True, slots=True)
class Scenario:
    """A case or a story.

    Attributes:
        steps: Conversations, in order.
        probes: Questions, with their checks.
        row: Checks on the memories of a case.
        is_story: True if each question counts separately.
        ends_nothing: True if the last step closes no earlier statement.
        whole_words: False if strings also match parts of words.
    """

    id: str
    kind: str
    lang: str
    steps: tuple[Step, ...]
    probes: tuple[Step, ...]
    row: Mapping[str, Any]
    is_story: bool = False
    ends_nothing: bool = False
    whole_words: bool = True


def load_scenarios(folder: Path) -> list[Scenario]:
    """Read the cases and stories of a folder.

    Raises:
        ConfigError: If there are none, or one has the wrong format.
    """
    cases, stories = folder / "memory.jsonl", folder / "stories.json"
    try:
        lines = cases.read_text(encoding="utf-8").splitlines() if cases.is_file() else []
        found = [_case(json.loads(line)) for line in lines if line.strip()]
        told = json.loads(stories.read_text(encoding="utf-8")) if stories.is_file() else []
        found += [_story(row) for row in told]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"The cases in {str(folder)!r} are not of the format: {error!r}.\n{__doc__}") from error
    if not found:
        raise ConfigError(f"The folder {str(folder)!r} holds no cases in memory.jsonl or stories.json.\n{__doc__}")
    return found


def check_of(row: Mapping[str, Any], *, whole_words: bool = True) -> Check:
    """Return the checks on the injected text of a case or a question."""
    return Check(
        present=tuple(map(_any_of, row.get("present", ()))),
        absent=tuple(row.get("absent", ())),
        resolved=tuple((stale, _any_of(newer)) for stale, newer in row.get("resolved", ())),
        once=tuple(row.get("once", ())),
        guarded=tuple((needle, _any_of(markers)) for needle, markers in row.get("guarded", ())),
        whole_words=whole_words,
    )


def wrong_memories(texts: Sequence[str], row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a description of each failed check on the active memories."""
    together = "\n".join(texts)
    for group in map(_any_of, row.get("memories_present", ())):
        if not any(find(one, together) for one in group):
            yield f"memory missing: {' | '.join(group)}"
    yield from (f"memory present: {one}" for one in row.get("memories_absent", ()) if find(one, together))
    yield from (f"memory {reason}" for reason in unguarded(together, check_of(row).guarded))
    for one in row.get("memories_once", ()):
        if (times := sum(bool(find(one, text)) for text in texts)) > 1:
            yield f"{times} memories with {one}"
    if len(texts) > row.get("max_memories", len(texts)):
        yield f"{len(texts)} memories, more than {row['max_memories']}"


def _case(row: Mapping[str, Any]) -> Scenario:
    probes = tuple(row.get("probes") or (row,))
    asked = tuple(one for one in probes if "probe" in one or "messages" in one)
    return Scenario(row["id"], row["kind"], row["lang"], _steps(row), asked, row)


def _story(row: Mapping[str, Any]) -> Scenario:
    probes = tuple({**row.get("ask", {}), **question} for question in row["questions"])
    return Scenario(row["id"], row["id"], row["lang"], _steps(row), probes, {}, is_story=True)


def _steps(row: Mapping[str, Any]) -> tuple[Step, ...]:
    return tuple({"user": step} if isinstance(step, list) else step for step in row["conversations"])


def _any_of(item: str | Sequence[str]) -> AnyOf:
    return (item,) if isinstance(item, str) else tuple(item)
