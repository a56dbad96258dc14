"""Resolves the day that a sentence names against the time and zone of its turn."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import one_of

_DAYS_AWAY = (
    (lazy(r"\bday before yesterday\b|\bvorgestern\b|\banteayer\b|\bпозавчера\b|前天"), -2),
    (lazy(r"\bday after tomorrow\b|\bübermorgen\b|\bpasado mañana\b|\bпослезавтра\b|后天"), 2),
    (lazy(r"\byesterday\b|\blast night\b|\bgestern\b|\bayer\b|\banoche\b|\bвчера\b|昨[天晚日]"), -1),
    (lazy(r"\btomorrow\b|\bmorgen\b(?! früh)|(?<!la )(?<!por la )\bmañana\b|\bзавтра\b|明[天晚日]"), 1),
    (
        lazy(
            r"\btoday\b|\btonight\b|\bthis morning\b|\bheute\b|\bhoy\b|\besta (?:noche|tarde)\b|\bсегодня\b|今[天晚日]"
        ),
        0,
    ),
    (
        lazy(
            r"\blast week\b|\bletzte woche\b|\bla semana pasada\b|\bна прошлой неделе\b|上(?:个)?(?:周|星期)(?![一二三四五六日天])"
        ),
        -7,
    ),
    (
        lazy(
            r"\bnext week\b|\bnächste woche\b|\bla semana que viene\b|\bна следующей неделе\b|下(?:个)?(?:周|星期)(?![一二三四五六日天])"
        ),
        7,
    ),
)
_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_UNITS = (
    ("d", r"days?|tage?n?|días?|дн(?:я|ей)|день|天"),
    ("w", r"weeks?|wochen?|semanas?|недел[юиь]|недели|周|个?星期"),
    ("m", r"months?|monate?n?|mes(?:es)?|месяц(?:а|ев)?|个月"),
    ("y", r"years?|jahre?n?|años?|год(?:а)?|лет|年"),
)
_COUNTS = {
    **dict.fromkeys(("a", "an", "one", "einem", "einer", "ein", "un", "una", "один", "одну", "一"), 1),
    **dict.fromkeys(("two", "zwei", "dos", "два", "две", "两", "二"), 2),
    **dict.fromkeys(("three", "drei", "tres", "три", "三"), 3),
}
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(_COUNTS) + r")\s?"
_UNIT = "(?:" + "|".join(f"(?P<{key}>{names})" for key, names in _UNITS) + ")"
_AGO = one_of(
    rf"\b{_COUNT}{_UNIT} ago\b",
    rf"(?:\bvor|\bhace) {_COUNT}{_UNIT}\b",
    rf"\b{_COUNT}{_UNIT} назад",
    rf"{_COUNT}{_UNIT}(?:以)?前",
)
_AHEAD = one_of(rf"(?:\bin|\ben|\bdentro de|\bчерез) {_COUNT}{_UNIT}\b", rf"{_COUNT}{_UNIT}(?:以|之)?[后後]")
_MONTHS = (
    "jan|янв", "feb|фев", "mar|mär|мар", "apr|abr|апр", "may|mai|мая|май", "jun|июн", "jul|июл", "aug|ago|авг", "sep|сен",
    "oct|okt|окт", "nov|ноя", "dec|dez|dic|дек",
)  # fmt: skip
_MONTH_DAY = lazy(
    r"\b(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<year>\d{4}))?"
)
_DAY_MONTH = lazy(
    r"\b(?P<day>\d{1,2})(?:st|nd|rd|th|\.)? (?:of |de )?(?P<month>(?:jan|feb|mar|mär|apr|abr|may|mai|jun|jul|aug|ago|sep|oct|okt|nov|dec|dez|dic|"
    r"янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)[a-zäöüа-я]*)\b(?:,? (?:de )?(?P<year>\d{4}))?"
)
_HAN_DAY = lazy(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]")
_ISO = lazy(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b")


def event_time(flat: str, at: datetime, zone: str) -> datetime | None:
    """Return the start of the day that a flat sentence names, in UTC, None where it names none."""
    local = at.astimezone(_zone(zone))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    for pattern in (_ISO, _HAN_DAY, _MONTH_DAY, _DAY_MONTH):
        match = pattern.search(flat)
        if match and (named := _named_day(match, midnight)) is not None:
            return named.astimezone(UTC)
    for pattern, days in _DAYS_AWAY:
        if pattern.search(flat):
            return (midnight + timedelta(days=days)).astimezone(UTC)
    return _counted(flat, midnight)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _named_day(match: re.Match[str], midnight: datetime) -> datetime | None:
    name = match["month"]
    month = (
        int(name)
        if name.isdigit()
        else next((k for k, stems in enumerate(_MONTHS, 1) if name.startswith(tuple(stems.split("|")))), 0)
    )
    year = int(match["year"]) if match["year"] else midnight.year
    try:
        return midnight.replace(year=year, month=month, day=int(match["day"]))
    except ValueError:
        return None


def _counted(flat: str, midnight: datetime) -> datetime | None:
    for pattern, sign in ((_AGO, -1), (_AHEAD, 1)):
        match = pattern.search(flat)
        if match is None:
            continue
        groups = {key.rstrip("_0123456789"): value for key, value in match.groupdict().items() if value}
        count = int(groups["count"]) if groups["count"].isdigit() else _COUNTS[groups["count"]]
        days = next(days for key, days in _UNIT_DAYS.items() if key in groups)
        return (midnight + timedelta(days=sign * count * days)).astimezone(UTC)
    return None
