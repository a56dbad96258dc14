"""Time words in a question, resolved to a time span; pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache

Span = tuple[datetime, datetime]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar enero janvier января",
            "february februar febrero février февраля",
            "march märz marzo mars марта",
            "april abril avril апреля",
            "may mai mayo мая",
            "june juni junio juin июня",
            "july juli julio juillet июля",
            "august agosto août августа",
            "september septiembre septembre сентября",
            "october oktober octubre octobre октября",
            "november noviembre novembre ноября",
            "december dezember diciembre décembre декабря",
        ),
        start=1,
    )
    for name in names.split()
}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2, "few": 3}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_YESTERDAY = re.compile(r"\b(?:yesterday|gestern|ayer|hier|вчера)\b|昨天", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|this morning|heute|hoy|aujourd'hui|сегодня)\b|今天", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:last|past|previous|letzte\w*|la semana pasada|прошл\w+)\s+(?P<unit>week|month|year|woche|monat|jahr)\b"
    r"|(?P<zh>上周|上个月|去年)",
    re.IGNORECASE,
)
_AGO = re.compile(
    rf"\b(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<unit>day|week|month|year)s?\s+ago\b", re.IGNORECASE
)
_MONTH = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?P<month>{'|'.join(_MONTHS)})"
    rf"(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s+(?:of\s+|de\s+)?(?P<year>\d{{4}}))?\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b")
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b")
_UNITS = {"woche": "week", "monat": "month", "jahr": "year", "上周": "week", "上个月": "month", "去年": "year"}


@lru_cache(maxsize=8)  # every source of one search calls it
def span(text: str, now: datetime) -> Span | None:
    """Return the time span that ``text`` names, a little wider than its words; None if it names none."""
    for pattern, meaning in _MEANINGS:
        found = pattern.search(text)
        with suppress(OverflowError):  # beyond the calendar
            if found is not None and (meant := meaning(found, now)) is not None:
                return meant
    return None


def _iso(found: re.Match[str], now: datetime) -> Span | None:
    return _date(int(found["year"]), int(found["month"]), int(found["day"]), now)


def _ago(found: re.Match[str], now: datetime) -> Span:
    word = found["count"].lower()
    length = timedelta(days=_DAYS[found["unit"].lower()])
    middle = now - length * (int(word) if word.isdigit() else _NUMBERS[word])
    return middle - length / 2, middle + length / 2


def _last(found: re.Match[str], now: datetime) -> Span:
    unit = (found["zh"] or found["unit"]).lower()
    length = timedelta(days=_DAYS[_UNITS.get(unit, unit)])
    return now - 2 * length, now


def _month(found: re.Match[str], now: datetime) -> Span | None:
    month = _MONTHS[found["month"].lower()]
    if found["month"] == "may" and not (found["day"] or found["after"] or found["year"]):
        return None  # the verb
    year = int(found["year"]) if found["year"] else now.year - (month > now.month)
    return _date(year, month, int(found["day"] or found["after"] or 0), now)


def _date(year: int, month: int, day: int, now: datetime) -> Span | None:
    """Return the span of a day, or of a month if the day is 0; None for an invalid date."""
    try:
        first = datetime(year, month, max(day, 1), tzinfo=now.tzinfo)
    except ValueError:
        return None
    return (first - timedelta(days=1), first + timedelta(days=2 if day else 32))


def _year(found: re.Match[str], now: datetime) -> Span:
    first = datetime(int(found["year"]), 1, 1, tzinfo=now.tzinfo)
    return first, first + timedelta(days=366)


_MEANINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Span | None]], ...] = (
    (_ISO, _iso),
    (_YESTERDAY, lambda _, now: (now - timedelta(days=2), now)),
    (_TODAY, lambda _, now: (now - timedelta(days=1), now + timedelta(days=1))),
    (_AGO, _ago),
    (_LAST, _last),
    (_MONTH, _month),
    (_YEAR, _year),
)
