"""Plays conversations about forgetting through the writing half and looks at the worst that could be injected."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from proxy.memory.learn.extract_builtin import BuiltinExtractor
from proxy.memory.learn.ground import ground
from proxy.memory.learn.reconcile import reconcile
from proxy.memory.visibility.visibility import ClosedValues
from proxy.text.words import HAS_CJK, stems, words
from proxy.types import Episode, Memory, Said, Scope, Turn

OWN = Path(__file__).with_name("retract_own.jsonl")
# By authors who saw the public set and no rule; no rule is made for it, and no weight learned from it.
UNSEEN = Path(__file__).with_name("retract_unseen.jsonl")
_DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"
PUBLIC = Path(os.environ.get("THROUGHLINE_DATA", _DEFAULT)) / "retract" / "open.jsonl"  # noqa: TID251
JUNK = Path(__file__).with_name("junk_turns.jsonl")
SCOPE = Scope("0" * 32, "1" * 32)
AMID = {
    "en": (
        "Morning! Had a long day yesterday and the train was late again. The weather is awful and the neighbours are loud.",
        "Anyway, could you write a short toast for a birthday on Saturday? What goes well with rice, something quick?",
    ),
    "de": (
        "Guten Morgen! Gestern war ein langer Tag und der Zug kam wieder zu spät. Das Wetter ist scheußlich und es ist laut.",
        "Kannst du einen kurzen Toast für einen Geburtstag schreiben? Was passt gut zu Reis, etwas Schnelles bitte?",
    ),
    "es": (
        "¡Buenos días! Ayer fue un día largo y el tren llegó tarde otra vez. Hace un tiempo horrible y hay mucho ruido.",
        "En fin, ¿puedes escribir un brindis corto para un cumpleaños? ¿Qué va bien con arroz, algo rápido por favor?",
    ),
    "ru": (
        "Доброе утро! Вчера был длинный день, и поезд опять опоздал. Погода ужасная, и на улице шумят с самого утра.",
        "В общем, напиши, пожалуйста, короткий тост на день рождения? Что подойдёт к рису, что-нибудь быстрое и простое?",
    ),
    "zh": (
        "早上好！昨天很累，火车又晚点了。今天天气很糟，外面很吵。",
        "对了，能帮我写一句生日祝福吗？米饭配什么菜好，快一点的？",
    ),
}
LEAST = {"en": 0.95, "de": 0.9, "es": 0.9, "ru": 0.9, "zh": 0.9}
LEAST_UNSEEN = {"en": 0.83, "de": 0.77, "es": 0.77, "ru": 0.85, "zh": 0.77}  # what is reached, far from what is wanted


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def content(text: str) -> set[str]:
    """What the integrator matches on: stems of words and pairs of CJK characters."""
    found = [word.text for word in words(text)]
    pairs = {a + b for a, b in itertools.pairwise(found) if HAS_CJK.search(a) and HAS_CJK.search(b)}
    telling = [word for word in found if len(word) > 2 or word.isdigit()]
    forms = [form for word in telling for stem in stems(word) for form in (stem, *stems(stem))]
    return pairs | {form[:6] for form in (*forms, *(word for word in telling if not word.isascii()))}


def play(case: dict[str, Any]) -> str:
    """Return all active facts and all user utterances of a case as they could be injected after it."""
    rows: dict[str, Memory] = {}
    episodes: list[Episode] = []
    at, extractor = datetime(2026, 1, 1, 9, tzinfo=UTC), BuiltinExtractor()
    for conversation in case["conversations"]:
        at += timedelta(days=3)
        first = len(episodes)
        for text in conversation:
            at += timedelta(minutes=5)
            number = len(episodes)
            turn = Turn(f"turn_{number}", SCOPE, (Said(f"msg_{number}", "user", text),), "ok", "complete", "m", at)
            near = (*episodes[first:][-2:], *episodes[-6:])
            heard = [one for one in episodes if one in near or content(one.text) & content(text)]
            known = [row for row in rows.values() if row.status == "active"]
            found = ground(extractor.extract(turn, known, heard), turn, known, heard)
            for change in reconcile(found, turn, list(rows.values()), now=at):
                rows[change.memory.id] = change.memory
            episodes.append(Episode(f"e{number}", "s", turn.id, number, "user", text, at))
    closed = ClosedValues.from_memories(rows.values())
    shown = [closed.visible(row.text, row.valid_from) for row in rows.values() if row.status == "active"]
    shown += [closed.visible(episode.text, episode.at) for episode in episodes]
    return "\n".join(text for text in shown if text).casefold()


def learns(text: str) -> bool:
    at = datetime(2026, 1, 1, 9, tzinfo=UTC)
    turn = Turn("turn", SCOPE, (Said("msg", "user", text),), "ok", "complete", "m", at)
    return bool(ground(BuiltinExtractor().extract(turn, (), ()), turn))


def fails(case: dict[str, Any]) -> bool:
    injected = play(case)
    missing = any(text.casefold() not in injected for text in case["present"])
    return missing or any(text.casefold() in injected for text in case["absent"])


def amid(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case whose later messages go on about other things before and after."""
    before, after = AMID[case["lang"]]
    space = "" if case["lang"] == "zh" else " "
    first, *later = case["conversations"]
    return case | {
        "conversations": [first, *([space.join((before, _ended(text), after)) for text in said] for said in later)]
    }


def in_haste(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case whose later messages have no capitals and no apostrophes."""
    first, *later = case["conversations"]
    return case | {"conversations": [first, *([text.lower().replace("'", "") for text in said] for said in later)]}


def _ended(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", "。", "！", "？", "…")) else f"{text.rstrip()}."


def score(cases: list[dict[str, Any]]) -> tuple[dict[str, float], list[str]]:
    wrong = [case["id"] for case in cases if fails(case)]
    total, bad = Counter(case["lang"] for case in cases), Counter(name[:2] for name in wrong)
    return {lang: 1 - bad[lang] / total[lang] for lang in total}, wrong


@pytest.mark.parametrize("path", [OWN, PUBLIC], ids=["own", "public"])
def test_what_ended_is_gone_and_what_holds_stays(path: Path) -> None:
    share, wrong = score(load(path))
    assert all(share[lang] >= LEAST[lang] for lang in share), wrong


def test_what_nothing_was_made_for_passes_as_often_as_before() -> None:
    share, wrong = score(load(UNSEEN))
    assert all(share[lang] >= LEAST_UNSEEN[lang] for lang in LEAST_UNSEEN), wrong


@pytest.mark.parametrize("lang", sorted(AMID))
def test_what_is_said_amid_other_things_is_heard(lang: str) -> None:
    cases = [case for case in load(OWN) if case["lang"] == lang][::6]
    heard = [case for case in cases if not fails(case)]
    lost = [case["id"] for case in heard if fails(amid(case))]
    assert len(lost) <= 0.12 * len(heard), lost


@pytest.mark.parametrize(("lang", "most"), [("en", 0.2), ("de", 0.1), ("es", 0.1), ("ru", 0.1)])
def test_what_is_typed_in_haste_is_heard(lang: str, most: float) -> None:
    cases = [case for case in load(OWN) if case["lang"] == lang][1::6]
    heard = [case for case in cases if not fails(case)]
    lost = [case["id"] for case in heard if fails(in_haste(case))]
    assert len(lost) <= most * len(heard), lost


def test_our_own_cases_cover_every_language_and_kind() -> None:
    counts = Counter((case["lang"], case["kind"]) for case in load(OWN))
    assert len({lang for lang, _ in counts}) == 5
    assert len(counts) == 40
    assert min(counts.values()) >= 4


def test_small_talk_and_material_add_next_to_nothing() -> None:
    said = [json.loads(line) for line in JUNK.read_text("utf-8").splitlines()]
    learned = [text for text in said if learns(text)]
    assert len(learned) <= 0.01 * len(said), learned
