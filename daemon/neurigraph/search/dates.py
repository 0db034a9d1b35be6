"""The times that a question speaks of: "last week", "in March", "on 8 May 2023", "two weeks ago".

English only. A time raises memories of that time and never hides the others, so a reading that
is wrong now and then ("may" the verb is not read as the month) costs little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from math import exp

FADE_AFTER, FADE_BEFORE = 10.0, 4.0
"""Days in which closeness falls to 1/e: people tell of a day in the days after it."""

EARLIER_YEAR = 0.6
"""How much a month without a year speaks of an earlier year than the latest."""

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH_NUMBER = {name: i for i, name in enumerate(MONTHS, 1)}
_SHORT = {name[:3]: i for name, i in _MONTH_NUMBER.items()} | {"sept": 9}
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_NUMBERS = {
    word: i
    for i, words in enumerate(
        [
            "a|an|one",
            "two|couple",
            "three|few",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        1,
    )
    for word in words.split("|")
}

_MONTH = "|".join((*MONTHS, *sorted(_SHORT, key=len, reverse=True)))
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(_NUMBERS)})"
_UNIT = r"(?:day|week|month|year)s?"
_LAST = r"(?:last|past|previous)"


@dataclass(frozen=True, slots=True)
class Time:
    """From `first` to `last`, both included; with `yearly` those days of any year up to then."""

    first: date
    last: date
    yearly: bool = False

    def closeness(self, day: date) -> float:
        """1 within the time, less the further outside, near 0 some weeks away."""
        best = _closeness(self.first, self.last, day)
        if self.yearly and day < self.first:
            for years in (self.first.year - day.year, self.first.year - day.year - 1):
                if years > 0:
                    first, last = _years_back(self.first, years), _years_back(self.last, years)
                    best = max(best, EARLIER_YEAR * _closeness(first, last, day))
        return best


def closeness(times: Iterable[Time], day: date | None) -> float:
    """How near a day is to the nearest of these times, 0 to 1."""
    return max((time.closeness(day) for time in times), default=0.0) if day else 0.0


def _closeness(first: date, last: date, day: date) -> float:
    if day > last:
        return exp(-(day - last).days / FADE_AFTER)
    if day < first:
        return exp(-(first - day).days / FADE_BEFORE)
    return 1.0


def _years_back(day: date, years: int) -> date:
    try:
        return day.replace(year=max(day.year - years, 1))
    except ValueError:  # 29 February
        return day.replace(year=max(day.year - years, 1), day=28)


def times_in(text: str, today: date) -> tuple[Time, ...]:
    """All times that a text speaks of, in order, at most eight."""
    found: list[Time] = []
    for match in _TIME.finditer(text[:4000]):
        time = _read(match, today)
        if time is not None and time not in found:
            found.append(time)
    return tuple(found[:8])


def is_time_alone(text: str) -> bool:
    """Whether a text that speaks of a time says nothing else, as `what did we discuss last week`
    does not."""
    rest = _WORD.findall(_TIME.sub(" ", text[:4000]).lower())
    return all(word in _AROUND for word in rest)


def span_of(value: str, today: date) -> Time | None:
    """The time that a whole value names, as after `after:`, `before:` and `on:`.

    `2026`, `2026-03`, `2026-03-05`, and everything that `times_in` reads.
    """
    value = value.strip()
    exact = re.fullmatch(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?", value)
    if exact:
        year, month, day = (int(part) if part else None for part in exact.groups())
        return _span(year, month, day)
    match = _TIME.fullmatch(value) or _TIME.fullmatch("in " + value)
    time = _read(match, today) if match else None
    return Time(time.first, time.last) if time else None


def date_of_words(words: Iterable[str]) -> date | None:
    """The date that opens a transcript, from its first words ("1 56 pm on 8 may 2023").

    Words may be stems: three letters tell a month.
    """
    numbers: list[int] = []
    month = year = None
    for word in words:
        if word.isdecimal() and word.isascii():
            if len(word) == 4 and word[:2] in ("19", "20"):
                year = year or int(word)
            elif len(word) <= 2:
                numbers.append(int(word))
        elif word[:3] in _SHORT and _is_month_stem(word) and month is None:
            month, near = _SHORT[word[:3]], numbers[-1:]
            numbers = near
        if year and month and numbers:
            break
    if year and month is None and len(numbers) >= 2 and 1 <= numbers[0] <= 12:
        month, numbers = numbers[0], numbers[1:]  # 2023-05-08
    if not (year and month and numbers):
        return None
    span = _span(year, month, numbers[0])
    return span.first if span else None


def _is_month_stem(word: str) -> bool:
    return any(name.startswith(word.rstrip("iy")) for name in MONTHS) and len(word) >= 3


def _span(year: int | None, month: int | None, day: int | None) -> Time | None:
    try:
        if year is None:
            return None
        if month is None:
            return Time(date(year, 1, 1), date(year, 12, 31))
        first = date(year, month, day or 1)
        return Time(first, first if day else _month_end(first))
    except ValueError:
        return None


def _month_end(day: date) -> date:
    following = day.replace(day=28) + timedelta(days=4)
    return following - timedelta(days=following.day)


def _months_back(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 - months
    first = date(max(index // 12, 1), index % 12 + 1, 1)
    return first.replace(day=min(day.day, _month_end(first).day))


_WORD = re.compile(r"\w+")
_AROUND = frozenset(
    _WORD.findall(
        "a about all any anything at chats conversations did discuss discussed during everything "
        "from i in me memories my notes of on our say said show since talk talked talks the us we "
        "what"
    )
)
"""Words beside a time that name nothing to look for."""

_TIME = re.compile(
    "|".join(
        (
            rf"\b(?P<iso>{_YEAR}-\d\d(?:-\d\d)?)\b",
            rf"\b(?P<d1>{_DAY})(?:\s+of)?\s+(?P<m1>{_MONTH})\b\.?(?:,?\s+(?P<y1>{_YEAR})\b)?",
            rf"\b(?P<m2>{_MONTH})\.?\s+(?P<d2>{_DAY})\b(?:,?\s+(?P<y2>{_YEAR})\b)?",
            rf"\b(?P<m3>{_MONTH})\.?,?(?:\s+of)?\s+(?P<y3>{_YEAR})\b",
            rf"\b(?:in|of|since|by|during|until|from|this|{_LAST}|early|mid|late|before|after)"
            rf"[\s-]+(?P<m4>{_MONTH})\b(?!\.?,?(?:\s+of)?\s+(?:{_YEAR}|{_DAY})\b)",
            rf"\b(?P<m5>{'|'.join(m for m in MONTHS if m not in ('march', 'may'))})\b",
            rf"\b(?P<season>spring|summer|autumn|fall|winter)(?:\s+of)?\s+(?P<y4>{_YEAR})\b",
            rf"\b(?P<which>this|{_LAST})\s+(?P<season2>spring|summer|autumn|fall|winter)\b",
            rf"\bq(?P<quarter>[1-4])\s+(?P<y5>{_YEAR})\b",
            r"\b(?P<before>the\s+)?day\s+before\s+(?P<ereyesterday>yesterday)\b",
            r"\b(?P<near>today|this\s+morning|tonight|yesterday|last\s+night)\b",
            rf"\b(?P<count>{_COUNT})(?:\s+of)?\s+(?P<unit>{_UNIT})\s+ago\b",
            rf"\b(?:in|over|within|during)?\s*(?:the\s+)?{_LAST}\s+(?P<count2>{_COUNT})"
            rf"\s+(?P<unit2>{_UNIT})\b",
            rf"\b(?P<which2>this|{_LAST})\s+(?P<unit3>week|weekend|month|year)\b",
            rf"\b(?:{_LAST}|on|this)\s+(?P<weekday>{'|'.join(_DAYS)})\b",
            rf"\b(?P<y6>{_YEAR})\b",
        )
    ),
    re.IGNORECASE,
)


def _read(match: re.Match[str], today: date) -> Time | None:
    parts = {k: v.lower() for k, v in match.groupdict().items() if v}
    try:
        for key, read in _READERS:
            if key in parts:
                return read(parts, today)
    except (ValueError, OverflowError):  # 31 April, the year 0
        return None
    return None


def _calendar(parts: dict[str, str], today: date) -> Time | None:
    name = next(parts[k] for k in ("m1", "m2", "m3", "m4", "m5") if k in parts)
    month = _MONTH_NUMBER.get(name) or _SHORT[name]
    day_text = parts.get("d1") or parts.get("d2")
    day = int(re.sub(r"\D", "", day_text)) if day_text else None
    year_text = parts.get("y1") or parts.get("y2") or parts.get("y3")
    if year_text:
        return _span(int(year_text), month, day)
    latest = _span(today.year, month, day)
    if latest is None or latest.first > today:
        latest = _span(today.year - 1, month, day)
    return Time(latest.first, latest.last, yearly=True) if latest else None


def _season(parts: dict[str, str], today: date) -> Time | None:
    name = parts.get("season") or parts["season2"]
    if "y4" in parts:
        return _season_of(name, int(parts["y4"]))
    now = _season_of(name, today.year)
    if now.first > today or (parts["which"] != "this" and now.last >= today):
        now = _season_of(name, today.year - 1)
    return now


def _season_of(name: str, year: int) -> Time:
    if name == "winter":
        return Time(date(year, 12, 1), _month_end(date(year + 1, 2, 1)))
    first, last = _SEASONS[name]
    return Time(date(year, first, 1), _month_end(date(year, last, 1)))


def _quarter(parts: dict[str, str], today: date) -> Time | None:
    month = int(parts["quarter"]) * 3 - 2
    year = int(parts["y5"])
    return Time(date(year, month, 1), _month_end(date(year, month + 2, 1)))


def _day(parts: dict[str, str], today: date) -> Time | None:
    back = 2 if "ereyesterday" in parts else int(parts.get("near", "") in _YESTERDAY)
    day = today - timedelta(days=back)
    return Time(day, day)


_YESTERDAY = ("yesterday", "last night")


def _ago(parts: dict[str, str], today: date) -> Time | None:
    count, unit = _number(parts["count"]), parts["unit"].rstrip("s")
    day = _back(today, count, unit)
    # "three weeks ago" is rarely meant to the day
    slack = timedelta(days={"day": 0, "week": 3, "month": 10, "year": 60}[unit])
    return Time(day - slack, min(day + slack, today))


def _lately(parts: dict[str, str], today: date) -> Time | None:
    return Time(_back(today, _number(parts["count2"]), parts["unit2"].rstrip("s")), today)


def _named(parts: dict[str, str], today: date) -> Time | None:
    this, unit = parts["which2"] == "this", parts["unit3"]
    monday = today - timedelta(days=today.weekday())
    if unit == "year":
        year = today.year - (not this)
        return Time(date(year, 1, 1), date(year, 12, 31))
    if unit == "month":
        first = _months_back(today.replace(day=1), 0 if this else 1)
        return Time(first, _month_end(first))
    if unit == "weekend":
        saturday = monday + timedelta(days=5 if this else -2)
        return Time(saturday, saturday + timedelta(days=1))
    first = monday if this else monday - timedelta(days=7)
    return Time(first, first + timedelta(days=6))


def _weekday(parts: dict[str, str], today: date) -> Time | None:
    back = (today.weekday() - _DAYS.index(parts["weekday"]) - 1) % 7 + 1
    day = today - timedelta(days=back)
    return Time(day, day)


def _iso(parts: dict[str, str], today: date) -> Time | None:
    year, month, *day = map(int, parts["iso"].split("-"))
    return _span(year, month, day[0] if day else None)


def _year(parts: dict[str, str], today: date) -> Time | None:
    year = int(parts["y6"])
    return _span(year, None, None) if 1970 <= year <= today.year + 1 else None


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text]


def _back(day: date, count: int, unit: str) -> date:
    if unit in ("month", "year"):
        return _months_back(day, count * (12 if unit == "year" else 1))
    return day - timedelta(days=count * (7 if unit == "week" else 1))


_READERS: tuple[tuple[str, Callable[[dict[str, str], date], Time | None]], ...] = (
    ("iso", _iso),
    ("m1", _calendar),
    ("m2", _calendar),
    ("m3", _calendar),
    ("m4", _calendar),
    ("m5", _calendar),
    ("season", _season),
    ("season2", _season),
    ("quarter", _quarter),
    ("ereyesterday", _day),
    ("near", _day),
    ("count", _ago),
    ("count2", _lately),
    ("unit3", _named),
    ("weekday", _weekday),
    ("y6", _year),
)
