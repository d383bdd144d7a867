"""Generated scenarios with extreme values: each is expanded, or rejected with a message. None fails."""

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tickover.scenarios import ScenarioError, read
from tickover.scenarios.files import MAX_DEPTH
from tickover.server.isolated_calls import ExpandRequest, expand_scenario

_DATES = (
    "2027-01-31", "2027-02-28", "2028-02-29", "2027-01-31T09:00:00Z", "2027-03-28T02:30:00+01:00", "start", "end",
    "0001-01-01", "9999-12-31", "0011-01-01", "9989-12-31", "9978-06-01", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2027-02-30",
)  # fmt: skip
_DURATIONS = (
    "1 day", "10 days", "36 hours", "1 month", "3d", "1y 11mo 3w 6d 23h 59min 59s", "6 months", "1 second",
    "+0 days", "10 years", "+999999 years", "+999999 weeks", "999999 seconds", "soon",
)  # fmt: skip
_POINTS = (*_DATES, *_DURATIONS)
_NUMBERS = (
    1, 2, 12.5, 0.3, 15, 0, -1, 16, 100, 400, 10_000, 10**9, 10**18, 2**63, 10**30, 1e-300, 1e300, 1000000000.01, True,
    float("inf"), float("nan"), 0.1234567890123456789,
)  # fmt: skip
_ODD: tuple[object, ...] = ([], {}, "", [[]], {"a": {"b": [1]}}, "\0", "\u202e", "é" * 200, None, 5, "2027")
_DAYS = ("MO", "TU", "SU", "1MO", "-1FR", "+5TU", "53SA", "-53WE", "99MO", "0MO", "XX")
_FREQUENCIES = ("MONTHLY", "YEARLY", "WEEKLY", "DAILY", "MONTHLY", "YEARLY", "HOURLY", "SECONDLY")
_PHRASES = (
    "month", "week", "quarter", "second Friday", "day", "weekday", "month on the 31st", "month on the last weekday",
    "year on 29 February", "999999 years", "999999 days", "first Friday", "0 9 25 * *",
)  # fmt: skip
_ZONES = (
    "UTC", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Africa/Monrovia", "Asia",
    "../etc/passwd", "",
)  # fmt: skip
_STARTS = (
    datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 2, 29, 23, 59, tzinfo=UTC), datetime(11, 1, 1, tzinfo=UTC),
    datetime(9989, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
)  # fmt: skip


class _Generator:
    """Generates tables whose values are mostly valid, so that a bad one is reached."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def pick(self, values: Any) -> Any:
        """Return a value. The first ones are more likely."""
        return values[int(len(values) * self.random.random() ** 5)]

    def some(self, make: Any, maximum: int = 3) -> list[Any]:
        return [make() for _ in range(self.random.randint(0, maximum))]

    def table(self, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
        keys = self.random.sample(sorted(optional), self.random.randint(0, min(3, len(optional))))
        made = {key: make() for key, make in {**required, **{key: optional[key] for key in keys}}.items()}
        if "holidays" in made and "weekend" in optional:
            made.setdefault("weekend", "before")
        if self.random.random() < 0.03:
            made[self.pick([*made, *optional])] = self.pick(_ODD)
        return made

    def point(self) -> Any:
        return self.pick(_POINTS)

    def number(self) -> Any:
        return self.pick(_NUMBERS)

    def small_number(self) -> int:
        return self.random.randint(1, 16)

    def currency(self) -> Any:
        return "EUR" if self.random.random() < 0.95 else self.pick(["USD", "eur", "EURO"])

    def name(self) -> Any:
        return self.pick(["Rent", "Salary", "Trip", "Food", "Café", "Gym", "é" * 121, "\t;\"'"])

    def duration(self) -> Any:
        return self.pick(_DURATIONS)

    def rrule(self) -> Any:
        limits = {"BYMONTHDAY": 32, "BYMONTH": 13, "BYSETPOS": 367, "BYYEARDAY": 367, "BYWEEKNO": 54, "BYEASTER": 9}
        parts = [f"FREQ={self.pick(_FREQUENCIES)}"]
        for name in self.random.sample([*limits, "BYDAY", "BYDAY", "INTERVAL", "WKST"], self.random.randint(0, 3)):
            match name:
                case "BYDAY":
                    value = ",".join([self.pick(_DAYS), *self.some(lambda: self.pick(_DAYS), 2)])
                case "INTERVAL":
                    value = self.pick(["1", "2", "13", "1000", "0", "1_0", "١"])
                case "WKST":
                    value = self.pick(_DAYS)
                case _:
                    limit = limits[name]
                    numbers = [self.random.randint(-limit, limit) for _ in range(self.random.randint(1, 3))]
                    value = ",".join(map(str, numbers))
            parts.append(f"{name}={value}")
        return self.pick([";", ";", ";", ";", " ", "\n"]).join(parts)

    def amount(self) -> Any:
        between = {"between": sorted([self.small_number(), self.small_number()]), "step": self.number()}
        makers = [self.small_number, lambda: between, self.number, lambda: self.some(self.number)]
        return self.pick(makers)()

    def defaults(self) -> dict[str, Any]:
        return {
            "timezone": lambda: self.pick(_ZONES),
            "weekend": lambda: self.pick(["before", "after", "keep", "never"]),
            "holidays": lambda: self.pick(["DE", self.some(lambda: self.pick(_DATES)), "US", "DE-BY", "XX", "DE-XX"]),
            "seed": self.number,
        }

    def item(self, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
        timings = {
            "every": lambda: self.pick(_PHRASES),
            "rrule": self.rrule,
            "at": lambda: self.pick([self.point(), self.some(self.point)]),
        }
        when = self.pick(list(timings))
        return self.table(
            {"amount": self.amount, when: timings[when], **required},
            {
                "from": self.point,
                "until": self.point,
                "times": self.number,
                "time": lambda: self.pick(["00:00", "23:59:59", "08:00", "24:00"]),
                "jitter_days": self.small_number,
                "chance": self.number,
                "late_by": lambda: self.pick([self.duration(), {self.point(): self.duration()}]),
                "skipped": lambda: self.pick([self.point(), self.some(self.point)]),
                **self.defaults(),
                **optional,
            },
        )

    def transaction(self) -> dict[str, Any]:
        return self.item(
            {"name": self.name, "type": lambda: self.pick(["income", "expense"])},
            {"currency": self.currency, "category": self.name, "reversed_after": self.duration},
        )

    def goal(self) -> dict[str, Any]:
        contributions = {"contributions": lambda: self.some(lambda: self.item({}, {}))}
        return self.table({"name": self.name, "target": lambda: 10_000, **contributions}, {"initial": self.number})

    def expectation(self) -> Any:
        bounds = {"currency": self.currency, "from": self.point, "until": self.point}
        return self.pick([
            self.table({"never_below": self.number}, bounds),
            self.table({"never_above": self.number}, bounds),
            self.table({"goal_reached": self.name}, {"by": self.point}),
            self.table({"posted": self.name}, {"by": self.point, "count": self.number}),
            self.table(
                {"total": lambda: self.pick(["income", "expense", "all"]), "at_most": self.number},
                {"category": self.name, "per": lambda: self.pick(["all", "day", "week"]), "at_least": self.number},
            ),
        ])  # fmt: skip

    def scenario(self) -> dict[str, Any]:
        return self.table(
            {"currency": self.currency, "transactions": lambda: [self.transaction(), *self.some(self.transaction, 1)]},
            {
                "title": self.name,
                "start": lambda: self.pick(_DATES),
                "length": self.duration,
                "opening": lambda: {self.currency(): self.number()},
                "goals": lambda: self.some(self.goal, 1),
                "expect": lambda: self.some(self.expectation, 1),
                **self.defaults(),
            },
        )


def _write_toml(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {_write_toml(one)}' for key, one in value.items())}}}"
        case list():
            return f"[{', '.join(map(_write_toml, value))}]"
        case float():
            return repr(value)
    return json.dumps(value)


@settings(max_examples=300, deadline=None, database=None)
@given(st.integers(0, 2**63))
def test_generated_scenario_is_expanded_or_rejected(seed: int) -> None:
    generator = _Generator(seed)
    tables, start = generator.scenario(), generator.pick(_STARTS)
    text = "".join(f"{key} = {_write_toml(value)}\n" for key, value in tables.items())
    note(text)
    result = expand_scenario(ExpandRequest(text, generator.pick([None, start]), start))
    assert result.result or result.errors


@pytest.mark.parametrize(
    "keys",
    [
        'every = "month"\nskipped = "9999-12-31T23:59:59Z"',
        'every = "month"\nfrom = "9999-12-31T23:59:59Z"',
        'every = "month"\nuntil = "9999-12-31T23:59:59Z"\nfrom = "9999-12-31T23:59:58Z"',
        'every = "month"\nlate_by = {"9999-12-31T23:59:59Z" = "3 days"}',
        'at = 2027-01-05\nlate_by = "999999 weeks"',
        'at = 2027-01-05\nreversed_after = "999999 weeks"',
    ],
)
def test_date_after_the_year_9999_is_an_error_with_its_line(keys: str) -> None:
    item = f'[[transactions]]\nname = "Rent"\namount = 1\ntype = "income"\n{keys}'
    scenario = read(f'timezone = "Asia/Tokyo"\ncurrency = "EUR"\n{item}')
    with pytest.raises(ScenarioError, match=r'line 3, transaction 1 "Rent": .*9999') as caught:
        scenario.plan("2027-01-01T00:00:00Z")
    assert caught.value.line == 3


def test_jitter_at_the_end_of_time_is_no_failure() -> None:
    item = (
        'name = "Rent"\namount = 1\ntype = "income"\nevery = "day"\ntimes = 99\njitter_days = 15\nfrom = "9999-12-01"'
    )
    scenario = read(f'currency = "EUR"\nlength = "10 years"\n[[transactions]]\n{item}')
    with pytest.raises(ScenarioError, match="line 3"):
        scenario.plan("9989-12-31T23:59:59Z")


def test_amount_with_too_many_digits_in_a_range_is_an_error_with_its_line() -> None:
    item = 'name = "Rent"\namount = {between = [100, 900], step = 0.123456789123457}\ntype = "income"\nevery = "week"'
    scenario = read(f'currency = "EUR"\n[[transactions]]\n{item}')
    with pytest.raises(ScenarioError, match=r"line 2.*too many digits"):
        scenario.plan("2027-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        "a = " + "{a = " * MAX_DEPTH + "1" + "}" * MAX_DEPTH,
        f"[{'.'.join('a' * (MAX_DEPTH + 1))}]",
    ],
)
def test_deeply_nested_values_are_an_error(text: str) -> None:
    with pytest.raises(ScenarioError, match="the values are nested too deeply"):
        read(text)
