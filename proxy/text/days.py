"""Days of a time phrase, counted from the day of the statement; pure.

Rules:

- Weeks run from Monday to Sunday.
- "next Friday" is the Friday of next week (``week``), or the first one that is more than a day ahead (``coming``);
  where usage differs (``either``) it has no date unless both are the same.
- A weekday, or a day and month without a year, is the next one, unless the statement is about the past or recurs.
- An uncertain time has no date: "on Thursday" said on a Thursday, a day and month a few weeks ago.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

from proxy.text.phrases import Match

WEEK, DAYS_OF_MONTH = 7, 31
MAX_DAYS_AHEAD = 305  # "20 November" said on the 26th may mean six days ago as well as next year

_NUMERIC = re.compile(r"\A(\d++)([./])(\d++)(?:[./](\d++)|\.)?")
_Values = Mapping[str, Any]


class Days(NamedTuple):
    """First and last day of a time."""

    first: date
    last: date

    def __str__(self) -> str:
        """Return ``2026-12-04``, ``2026-10``, ``2025`` or ``2026-11-23..2026-11-29``."""
        first, last = self.first.isoformat(), self.last.isoformat()
        if first == last:
            return first
        if self == month_of(self.first):
            return first[:7]
        if self == year_of(self.first):
            return first[:4]
        return f"{first}..{last}"


@dataclass(frozen=True, slots=True)
class Now:
    """Day of a statement, and the limits on the meaning of bare names.

    Attributes:
        next_weekday: Rule of the language, as above.
        is_past: The statement is about the past.
        recurs: It is about something that recurs: "every", "birthday".
        names_weekdays: A weekday alone can be the next one.
        is_back: A name means its last day, not the next: "since Friday".
    """

    today: date
    next_weekday: Literal["week", "coming", "either"] = "either"
    is_past: bool = False
    recurs: bool = False
    names_weekdays: bool = True
    is_back: bool = False

    @property
    def looks_ahead(self) -> bool:
        """True if a bare name means the next day of that name."""
        return not (self.is_past or self.recurs)


def resolve(match: Match, now: Now) -> Days | None:
    """Return the days of a phrase, None if uncertain or not in the calendar."""
    name, offset = match.meaning
    rule = _RULES.get(name)
    try:
        return rule(match.values, offset, now) if rule else None
    except (ValueError, OverflowError):
        return None


def day_of(day: date) -> Days:
    """Return one day."""
    return Days(day, day)


def month_of(day: date) -> Days:
    """Return the month of a day."""
    return Days(day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1]))


def year_of(day: date) -> Days:
    """Return the year of a day."""
    return Days(date(day.year, 1, 1), date(day.year, 12, 31))


def numeric_date(token: str, orders: str) -> tuple[int, int, int | None] | None:
    """Return day, month and year of digits such as ``14.3.``, None if the orders disagree.

    >>> numeric_date("3/14", "m/d d/m"), numeric_date("3/4", "m/d d/m")
    ((14, 3, None), None)
    """
    found = _NUMERIC.fullmatch(token)
    if found is None:
        return None
    first, second = int(found[1]), int(found[3])
    year = None if found[4] is None else int(found[4]) + (2000 if len(found[4]) == 2 else 0)
    read = {
        (first, second, year) if order[0] == "d" else (second, first, year)
        for order in orders.split()
        if found[2] in order
    }
    valid = {one for one in read if 1 <= one[0] <= 31 and 1 <= one[1] <= 12}
    return valid.pop() if len(valid) == 1 else None


def _day(_values: _Values, offset: int, now: Now) -> Days:
    return day_of(now.today + timedelta(days=offset))


def _unit(values: _Values, offset: int, now: Now) -> Days | None:
    unit = _unit_name(values)
    if unit == "week":
        monday = _monday(now.today, offset)
        return Days(monday, monday + timedelta(days=6))
    if unit == "weekend":
        saturday = _monday(now.today, offset) + timedelta(days=5)
        if offset == 1 and now.next_weekday != "week" and now.today.weekday() < 5:
            if now.next_weekday == "either":
                return None
            saturday -= timedelta(days=WEEK)
        return Days(saturday, saturday + timedelta(days=1))
    if unit == "month":
        return month_of(_months_on(now.today, offset))
    return year_of(now.today.replace(year=now.today.year + offset, day=1)) if unit == "year" else None


def _weekday(values: _Values, offset: int, now: Now) -> Days:
    # "Friday of next week"
    return day_of(_monday(now.today, offset) + timedelta(days=values["weekday"]))


def _next_weekday(values: _Values, _: int, now: Now) -> Days | None:
    of_next_week = _weekday(values, 1, now)
    coming = day_of(now.today + timedelta(days=_ahead(values, now, least=2)))
    if now.next_weekday == "either":
        return coming if coming == of_next_week else None
    return of_next_week if now.next_weekday == "week" else coming


def _coming_weekday(values: _Values, _: int, now: Now) -> Days:
    return day_of(now.today + timedelta(days=_ahead(values, now, least=1)))


def _last_weekday(values: _Values, _: int, now: Now) -> Days:
    ago = (now.today.weekday() - values["weekday"]) % WEEK or WEEK
    return day_of(now.today - timedelta(days=ago))


def _this_weekday(values: _Values, _: int, now: Now) -> Days | None:
    return day_of(now.today + timedelta(days=_ahead(values, now, least=0))) if now.looks_ahead else None


def _on_weekday(values: _Values, _: int, now: Now) -> Days | None:
    if now.is_back:
        return _last_weekday(values, 0, now)
    ahead = _ahead(values, now, least=0)
    is_known = ahead and now.looks_ahead and now.names_weekdays
    return day_of(now.today + timedelta(days=ahead)) if is_known else None


def _weekday_day(values: _Values, _: int, now: Now) -> Days | None:
    # "Friday the 4th": the next one, if it is within a month
    days = (now.today + timedelta(days=ahead) for ahead in range(DAYS_OF_MONTH))
    found = (day for day in days if (day.weekday(), day.day) == (values["weekday"], values["day"]))
    day = next(found, None) if now.looks_ahead else None
    return None if day is None else day_of(day)


def _named(values: _Values, offset: int, now: Now) -> Days | None:
    # a bare name after "since", "until" or "by"
    if "weekday" in values:
        return _on_weekday(values, offset, now)
    if "month" not in values:
        return _date(values, offset, now)
    month, today = values["month"], now.today
    if "year" in values:
        return month_of(date(values["year"], month, 1))
    if now.is_back:
        return month_of(date(today.year - (month > today.month), month, 1))
    if month == today.month or not now.looks_ahead:
        return None
    return month_of(date(today.year + (month < today.month), month, 1))


def _month(values: _Values, offset: int, now: Now) -> Days | None:
    # "last May", "this May", "next May"
    month, today = values["month"], now.today
    if offset > 0:
        return month_of(date(today.year + 1, month, 1)) if month <= today.month else None
    return month_of(date(today.year - (offset < 0 and month >= today.month), month, 1))


def _month_of_year(values: _Values, offset: int, now: Now) -> Days:
    # "May last year", "14 May next year"
    year, month = now.today.year + offset, values["month"]
    return day_of(date(year, month, values["day"])) if "day" in values else month_of(date(year, month, 1))


def _count(values: _Values, offset: int, now: Now) -> Days | None:
    # "in two weeks", "three months ago"
    unit, number = _unit_name(values), values.get("n", 1)
    is_rate = unit == "day" and number == 1  # "three coffees in a day"
    if offset > 0 and (now.is_past or is_rate):
        return None
    moved = _moved(now.today, unit, offset * number)
    if moved is None:
        return None
    if unit in ("day", "week"):
        return day_of(moved)
    return month_of(moved) if unit == "month" else year_of(moved)


def _date(values: _Values, _: int, now: Now) -> Days | None:
    if "iso" in values:
        return day_of(values["iso"])
    day, month, year = values.get("numeric") or (values["day"], values["month"], values.get("year"))
    if year is not None:
        return day_of(date(year, month, day))
    today = now.today
    if now.is_back:
        return day_of(date(today.year - ((month, day) > (today.month, today.day)), month, day))
    following = date(today.year + ((month, day) < (today.month, today.day)), month, day)
    is_known = following == today or (now.looks_ahead and (following - today).days <= MAX_DAYS_AHEAD)
    return day_of(following) if is_known else None


def _range(values: _Values, _: int, now: Now) -> Days | None:
    # "9 to 20 August"
    days = _date(values, 0, now)
    return days and Days(min(days.first, days.first.replace(day=values["from"])), days.last)


def _since(values: _Values, _: int, now: Now) -> Days | None:
    days = _bound(values, 0, replace(now, is_back=True))
    return days if days and days.first <= now.today else None


def _since_units(values: _Values, _: int, now: Now) -> Days | None:
    return _count(values, -1, now)


def _until(values: _Values, _: int, now: Now) -> Days | None:
    when: Match = values["when"]
    opens_later = when.meaning[0] == "unit" and when.meaning[1] > 0  # "until next week": until its beginning or its end
    return None if opens_later else _bound(values, 0, now)


def _end_of(values: _Values, _: int, now: Now) -> Days | None:
    days = _bound(values, 0, now) if "when" in values else _unit(values, 0, now)
    return days and day_of(days.last)


def _next_units(values: _Values, _: int, now: Now) -> Days | None:
    moved = _moved(now.today, _unit_name(values), values.get("n", 1))
    return None if moved is None else day_of(moved)


def _bound(values: _Values, _: int, now: Now) -> Days | None:
    return resolve(values["when"], replace(now, names_weekdays=True))


_RULES: dict[str, Callable[[_Values, int, Now], Days | None]] = {
    "day": _day,
    "unit": _unit,
    "weekday": _weekday,
    "next_weekday": _next_weekday,
    "coming_weekday": _coming_weekday,
    "last_weekday": _last_weekday,
    "this_weekday": _this_weekday,
    "on_weekday": _on_weekday,
    "weekday_day": _weekday_day,
    "named": _named,
    "month": _month,
    "month_of_year": _month_of_year,
    "count": _count,
    "date": _date,
    "range": _range,
    "since": _since,
    "since_units": _since_units,
    "until": _until,
    "end_of": _end_of,
    "next_units": _next_units,
    "within": _next_units,
    "bound": _bound,
}


def _unit_name(values: _Values) -> str:
    return str(values.get("unit") or values["units"])


def _monday(today: date, weeks: int) -> date:
    return today + timedelta(days=weeks * WEEK - today.weekday())


def _ahead(values: _Values, now: Now, *, least: int) -> int:
    """Return the days to the first such weekday that is at least ``least`` days ahead."""
    ahead = int(values["weekday"] - now.today.weekday()) % WEEK
    return ahead if ahead >= least else ahead + WEEK


def _months_on(today: date, months: int) -> date:
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def _moved(today: date, unit: str, number: int) -> date | None:
    if unit in ("day", "week"):
        return today + timedelta(days=number * (WEEK if unit == "week" else 1))
    if unit in ("month", "year"):
        return _months_on(today, number * (12 if unit == "year" else 1))
    return None
