"""Dates shown beside a statement of the user, and the time at which a statement expires; pure.

All words are data (``languages/*.toml``, section ``[dates]``); ``days`` resolves the phrases.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any

from proxy.text.days import Now, numeric_date, resolve
from proxy.text.languages import table, words
from proxy.text.phrases import Digits, Either, Listed, Match, Meaning, Nested, Phrases, Slot, Tokens

MAX_DATES = 3
MAX_CUE_CHARACTERS = 40  # longer tokens are no verbs; keeps patterns with several gaps linear

_BY_OFFSET = ("day", "unit", "weekday", "month", "month_of_year", "count")
_SHOWN = {
    "since": "since",
    "since_units": "since",
    "until": "until",
    "end_of": "until",
    "next_units": "until",
    "within": "until",
}
_ENDS = ("until", "end_of", "next_units")
_PASSING = (("day", 0), ("unit", 0))  # end only a passing state
_NEVER = re.compile(r"(?!)")


def dates_in(text: str, at: datetime, code: str) -> str:
    """Return the dates of a statement's time words, "" if none needs resolving or all are uncertain.

    >>> at = datetime.fromisoformat("2026-11-26T09:00-03:00")
    >>> dates_in("I fly to Porto next Friday and stay until 10 December", at, "en")
    '2026-12-04, until 2026-12-10'

    Args:
        text: The user's statement.
        at: Time of the statement, by the user's own clock.
        code: Language of ``text``; the result is "" if it has no table of dates.
    """
    reading = _read(text, at, code)
    if reading is None:
        return ""
    shown: dict[str, None] = {}
    for match in reading.matches:
        if one := _shown(match, reading.now):
            shown[one] = None
    return ", ".join([*shown][:MAX_DATES])


def expiry_of(text: str, at: datetime, code: str) -> datetime | None:
    """Return the midnight, by the user's own clock, at which a statement expires; None if it may not.

    "until Friday" and "for the next three days" end a statement that is neither about the past nor about something that
    recurs. "today", "this week" and the like end only a passing state ("I'm in Rome"): an event of this week stays
    true.

    Args:
        text: The user's statement.
        at: Time of the statement, by the user's own clock.
        code: Language of ``text``.
    """
    reading = _read(text, at, code)
    if reading is None or not reading.now.looks_ahead:
        return None
    ending = [days for match in reading.matches if reading.ends_by(match) and (days := resolve(match, reading.now))]
    ends = max((days.last for days in ending), default=date.min)
    if not reading.now.today <= ends < date.max:
        return None
    return datetime.combine(ends + timedelta(days=1), time(), at.tzinfo)


def due_of(text: str, at: datetime, code: str) -> date | None:
    """Return the due date of a request in a text, None if it names none in the future.

    >>> at = datetime.fromisoformat("2026-11-26T09:00-03:00")
    >>> [str(due_of(f"remind me to call {when}", at, "en")) for when in ("tomorrow", "before June", "after Friday")]
    ['2026-11-27', '2027-05-31', 'None']

    Args:
        text: The user's statement.
        at: Time of the statement, by the user's own clock.
        code: Language of ``text``.
    """
    reading = _read(text, at, code)
    if reading is None or reading.now.recurs:
        return None
    found = []
    for match in reading.matches:
        said = set(reading.tokens.words[match.start : match.end])
        days = resolve(match, replace(reading.now, is_past=False))
        if days is None or match.meaning[0].startswith("since") or said & words("not_due"):
            continue
        day = days.first - timedelta(days=1) if said & words("earlier") else days.last
        if reading.now.today <= day < date.max:
            found.append(day)
    return min(found, default=None)


def without_dates(text: str, at: datetime, code: str) -> str:
    """Return a text without its time phrases, in the form NFKC."""
    reading = _read(text, at, code)
    if reading is None:
        return text
    tokens, found, done = reading.tokens, "", 0
    for match in reading.matches:
        found += tokens.text[done : tokens.starts[match.start]] + " "
        done = tokens.ends[match.end - 1]
    return found + tokens.text[done:]


@dataclass(frozen=True, slots=True)
class _Language:
    times: Phrases
    states: Phrases
    recurring: Phrases
    future: Phrases | None
    past: re.Pattern[str]
    not_past: re.Pattern[str]
    next_weekday: Any

    def is_past(self, words: Sequence[str]) -> bool:
        told = (word for word in words if len(word) <= MAX_CUE_CHARACTERS and self.past.fullmatch(word))
        return any(self.not_past.fullmatch(word) is None for word in told)


@dataclass(frozen=True, slots=True)
class _Reading:
    language: _Language
    tokens: Tokens
    matches: tuple[Match, ...]
    now: Now

    def ends_by(self, match: Match) -> bool:
        if match.meaning in _PASSING:
            return bool(self.language.states.find(self.tokens))
        is_so_far = "when" in match.values and match.values["when"].meaning == ("day", 0)  # "until today"
        return match.meaning[0] in _ENDS and not is_so_far


def _read(text: str, at: datetime, code: str) -> _Reading | None:
    language = _language(code)
    if language is None:
        return None
    tokens = Tokens.of(text)
    matches = tuple(_dated(language.times.find(tokens), tokens))
    if not matches:
        return None
    now = Now(
        at.date(),
        language.next_weekday,
        is_past=language.is_past(tokens.words),
        recurs=bool(language.recurring.find(tokens)),
        names_weekdays=language.future is None or bool(language.future.find(tokens)),
    )
    return _Reading(language, tokens, matches, now)


def _dated(matches: Sequence[Match], tokens: Tokens) -> Iterator[Match]:
    """Yield the phrases, but not a weekday followed by its date: "on Friday, 4 December"."""
    for match, following in itertools.zip_longest(matches, matches[1:]):
        is_weekday = "weekday" in match.values.get("when", match).values
        has_date = following is not None and following.meaning[0] == "date" and following.start == match.end
        if match.meaning[0] == "ignored" or (is_weekday and has_date and tokens.follows(match.end, " ,")):
            continue
        yield match


def _shown(match: Match, now: Now) -> str:
    days = resolve(match, now)
    if days is None or _is_absolute(match.values.get("when", match)):
        return ""
    first, _, last = str(days).partition("..")
    word = _SHOWN.get(match.meaning[0], "")
    if not word:
        return str(days)
    return f"{word} {first if word == 'since' else last or first}"


def _is_absolute(match: Match) -> bool:
    numeric = match.values.get("numeric")
    return "iso" in match.values or "year" in match.values or (numeric is not None and numeric[2] is not None)


@cache
def _language(code: str) -> _Language | None:
    raw = table(code).get("dates")
    if not raw:
        return None
    slots = _slots(raw)
    templates = list(_templates(raw))
    alone = [(meaning, text) for meaning, text in templates if "{when}" not in text]
    nested = Nested(Phrases([*alone, (("date", 0), "{iso}")], slots))
    outer = [(meaning, text) for meaning, text in templates if meaning[0] != "named"]
    return _Language(
        Phrases(outer, {**slots, "when": nested}),
        _phrases(raw.get("states", ()), slots),
        _phrases(raw.get("recurring", ()), slots),
        _phrases(raw["future"], slots) if "future" in raw else None,
        _wildcards(raw.get("past", "")),
        _wildcards(raw.get("not_past", "")),
        raw.get("next_weekday", "either"),
    )


def _phrases(templates: Sequence[str], slots: Mapping[str, Slot]) -> Phrases:
    return Phrases([(("", 0), template) for template in templates], slots)


def _wildcards(words: str) -> re.Pattern[str]:
    """Return a pattern of whole words, in which ``*`` matches any letters."""
    listed = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in words.split())
    return re.compile(rf"\A(?:{listed})") if listed else _NEVER


def _templates(raw: Mapping[str, Any]) -> Iterator[tuple[Meaning, str]]:
    for name in _BY_OFFSET:
        for offset, templates in raw.get(name, {}).items():
            yield from (((name, int(offset)), template) for template in templates)
    for name, templates in raw.get("phrases", {}).items():
        yield from (((name, 0), template) for template in templates)


def _slots(raw: Mapping[str, Any]) -> dict[str, Slot]:
    cased = raw.get("cased", "").split()
    units = {form: unit for unit, forms in raw.get("units", {}).items() for form in forms.split("/")}
    plurals = {form: unit for unit, forms in raw.get("plurals", {}).items() for form in forms.split("/")}
    numbers, days = _numbered(raw.get("numbers", ())), _numbered(raw.get("days", ()))
    ordinals = "|".join(map(re.escape, raw.get("ordinals", "").split()))
    in_month = re.compile(rf"([1-9]|[12]\d|3[01]|0[1-9])(?:{ordinals})?")
    day = Either(
        Digits(lambda token: int(found[1]) if (found := in_month.fullmatch(token)) else None),
        Listed(days),
    )
    return {
        "weekday": Listed(_numbered(raw["weekdays"], first=0), cased),
        "month": Listed(_numbered(raw["months"]), cased),
        "unit": Listed(units),
        "units": Listed(units | plurals),
        **{f"unit.{unit}": Listed(dict.fromkeys(forms.split("/"), unit)) for unit, forms in raw["units"].items()},
        "n": Either(
            Listed(numbers),
            Digits(lambda token: int(token) if token.isdecimal() and len(token) <= 3 else None),
            barred=[*numbers, *raw.get("not_before_number", "").split()],
        ),
        "day": day,
        "from": day,  # of "9 to 20 August"
        "year": Digits(lambda token: int(token) if re.fullmatch(r"(?:19|20|21)\d\d", token) else None),
        "numeric": Digits(lambda token: numeric_date(token, raw.get("numeric", ""))),
        "iso": Digits(_iso),
    }


def _numbered(lines: Sequence[str], first: int = 1) -> dict[str, int]:
    """Return the number of each form; "/" separates the forms of one number."""
    return {form: number for number, forms in enumerate(lines, first) for form in forms.split("/")}


def _iso(token: str) -> date | None:
    try:
        return date.fromisoformat(token) if len(token) == 10 else None
    except ValueError:
        return None
