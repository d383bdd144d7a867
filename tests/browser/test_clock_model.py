"""The clock model of the console, compared with responses of the server."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.console import new_address
from tests.support.program import Program
from tests.support.tabs import Tab

_START = datetime(2027, 1, 31, 9, 0, tzinfo=UTC)
_AMOUNTS = (
    0.1,
    0.2,
    0.3,
    1e-7,
    3e-7,
    1e-12,
    5e-324,
    0.005,
    1.005,
    12.34,
    133.335,
    1150.5,
    999_999.99,
    999_999_999.99,
    10**9,
)
_OPENING = {"EUR": 0.7, "CHF": -3}

_VIEWS = """async ({ snapshot, before, params, instants, opening }) => {
  const { lowestPoint, parseClock, parseParams, viewAt } = await importModule("clock/clock-model.js");
  const { parseInstant, toTimestamp } = await importModule("lib/instants.js");
  const model = params ? parseParams(params, opening)
    : parseClock(snapshot, before && parseClock(before, null, opening), before ? undefined : opening);
  return instants.map((text) => {
    const view = viewAt(model, parseInstant(text));
    return {
      posted_ids: model.items.slice(0, view.postedCount).map((item) => item.id).sort(),
      balances: Object.fromEntries(model.balances.map((balance) => {
        const lowest = lowestPoint(balance, model.start, view.instant);
        return [balance.currency, [view.balances.get(balance.currency), lowest.value]];
      })),
      goals: view.goals.map(({ current, remaining, percent, postedCount, next }) =>
        ({ current, remaining, percent, posted: postedCount, next: next?.amount })),
    };
  });
}"""

_TO_PARAMS = """async (snapshot) => {
  const { parseClock, toParams } = await importModule("clock/clock-model.js");
  const { toTimestamp } = await importModule("lib/instants.js");
  return toParams(parseClock(snapshot));
}"""


@pytest.fixture(scope="module")
def token(program: Program) -> str:
    return program.sign_in(new_address())


def _timestamp(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def _random_time(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return _timestamp(_START)
    instant = _START + timedelta(days=rng.randrange(400), seconds=rng.choice((0, 0, 1, 3600)))
    # Microseconds matter, and items can share an instant.
    return _timestamp(instant + timedelta(microseconds=rng.choice((0, 0, 0, 1, 250_000, 999_999))))


def _random_clock(rng: random.Random) -> dict[str, Any]:
    def goal(number: int) -> dict[str, Any]:
        target = rng.choice(_AMOUNTS)
        return {
            "name": f"Goal {number}",
            "targetAmount": target,
            "initialAmount": rng.choice((0, target, *(amount for amount in _AMOUNTS if amount <= target))),
            "contributions": [
                {"at": _random_time(rng), "amount": rng.choice(_AMOUNTS)} for _ in range(rng.randrange(12))
            ],
        }

    return {
        "frozenTime": _timestamp(_START),
        "transactions": [
            {
                "at": _random_time(rng), "name": f"Item {number}", "amount": rng.choice(_AMOUNTS),
                "currency": rng.choice(("EUR", "JPY", "XXX")), "type": rng.choice(("INCOME", "EXPENSE")),
                "category": rng.choice(("Opening balance", "Home")),
            }
            for number in range(rng.randrange(20))
        ],
        "goals": [goal(number) for number in range(rng.randrange(6))],
    }  # fmt: skip


def _random_instants(rng: random.Random, params: dict[str, Any], since: str = "") -> list[str]:
    """Return instants with and without items."""
    item_times = [entry["at"] for entry in params["transactions"]]
    item_times += [entry["at"] for goal in params["goals"] for entry in goal["contributions"]]
    chosen = (
        rng.sample(item_times, min(8, len(item_times))) + [_random_time(rng) for _ in range(4)] + [_timestamp(_START)]
    )
    return sorted({instant for instant in chosen if _parse(instant) >= _parse(since or _timestamp(_START))})


def _parse(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _expected(clock: dict[str, Any], balances: dict[str, Any]) -> dict[str, Any]:
    """Convert a clock and its balances from responses to the view that the console must show."""
    contributions = [entry for goal in clock["goals"] for entry in goal["contributions"]]
    return {
        "posted_ids": sorted(entry["id"] for entry in clock["transactions"] + contributions),
        "balances": {
            entry["currency"]: [entry["balance"], entry["lowest"]["balance"]] for entry in balances["balances"]
        },
        "goals": [
            {
                "current": goal["currentAmount"],
                "remaining": goal["remainingAmount"],
                "percent": goal["progressPercent"],
                "posted": len(goal["contributions"]),
                "next": next((entry["amount"] for entry in goal["upcomingContributions"]), None),
            }
            for goal in clock["goals"]
        ],
    }


def _normalize(view: dict[str, Any]) -> dict[str, Any]:
    goals = [{"next": None, **goal} for goal in view["goals"]]
    return {**view, "balances": dict(sorted(view["balances"].items())), "goals": goals}


def _with_details(program: Program, token: str, id: str) -> Any:
    return program.result("getTestClock", {"id": id, "details": True}, token)["clock"]


def _server_views(program: Program, token: str, id: str, instants: list[str]) -> list[dict[str, Any]]:
    responses = program.batch("getTestClock", [{"id": id, "at": at} for at in instants], token)
    balances = _server_balances(program, token, id, instants)
    return [_expected(response["result"]["clock"], at) for response, at in zip(responses, balances, strict=True)]


def _server_balances(program: Program, token: str, id: str, instants: list[str]) -> list[dict[str, Any]]:
    params = [{"id": id, "at": at, "openingBalances": _OPENING} for at in instants]
    return [response["result"] for response in program.batch("getTestClockBalances", params, token)]


async def test_previews_equal_the_views_of_the_server(program: Program, token: str, loaded_tab: Tab) -> None:
    rng = random.Random(0)
    for _ in range(25):
        await _compare_previews(program, token, loaded_tab, rng)


async def _compare_previews(program: Program, token: str, loaded_tab: Tab, rng: random.Random) -> None:
    params = _random_clock(rng)
    created = _with_details(program, token, program.result("createTestClock", params, token)["clock"]["id"])
    instants = _random_instants(rng, params)
    views = await loaded_tab.page.evaluate(_VIEWS, {"snapshot": created, "instants": instants, "opening": _OPENING})
    assert [_normalize(view) for view in views] == _server_views(program, token, created["id"], instants)
    # The same for an advanced clock with an earlier model.
    middle = instants[len(instants) // 2]
    advanced = program.result("advanceTestClock", {"id": created["id"], "frozenTime": middle}, token)["clock"]
    instants = _random_instants(rng, params, since=middle)
    views = await loaded_tab.page.evaluate(
        _VIEWS, {"snapshot": advanced, "before": created, "instants": instants, "opening": _OPENING}
    )
    assert [_normalize(view) for view in views] == _server_views(program, token, created["id"], instants)


async def test_past_previews_equal_forks(program: Program, token: str, loaded_tab: Tab) -> None:
    rng = random.Random(1_000)
    for _ in range(12):
        await _compare_with_forks(program, token, loaded_tab, rng)


async def _compare_with_forks(program: Program, token: str, loaded_tab: Tab, rng: random.Random) -> None:
    """Compare views of an advanced clock without an earlier model."""
    params = _random_clock(rng)
    created = program.result("createTestClock", params, token)["clock"]
    instants = _random_instants(rng, params)
    program.result("advanceTestClock", {"id": created["id"], "frozenTime": instants[-1]}, token)
    advanced = _with_details(program, token, created["id"])
    views = await loaded_tab.page.evaluate(_VIEWS, {"snapshot": advanced, "instants": instants, "opening": _OPENING})
    forks = program.batch("forkTestClock", [{"id": created["id"], "at": at} for at in instants], token)
    balances = _server_balances(program, token, created["id"], instants)
    for view, fork, at in zip(views, forks, balances, strict=True):
        expected = _expected(fork["result"]["clock"], at)
        assert len(view["posted_ids"]) == len(expected["posted_ids"])
        assert {**_normalize(view), "posted_ids": []} == {**expected, "posted_ids": []}


async def test_params_preview_equals_the_created_clock(program: Program, token: str, loaded_tab: Tab) -> None:
    rng = random.Random(2_000)
    for _ in range(10):
        await _compare_with_params(program, token, loaded_tab, rng)


async def _compare_with_params(program: Program, token: str, loaded_tab: Tab, rng: random.Random) -> None:
    params = _random_clock(rng)
    created = program.result("createTestClock", params, token)["clock"]
    instants = _random_instants(rng, params)
    views = await loaded_tab.page.evaluate(_VIEWS, {"params": params, "instants": instants, "opening": _OPENING})
    for view, expected in zip(views, _server_views(program, token, created["id"], instants), strict=True):
        assert len(view["posted_ids"]) == len(expected["posted_ids"])
        assert {**_normalize(view), "posted_ids": []} == {**expected, "posted_ids": []}


async def test_model_can_be_converted_back_to_params(program: Program, token: str, loaded_tab: Tab) -> None:
    rng = random.Random(3_000)
    for _ in range(5):
        created = program.result("createTestClock", _random_clock(rng), token)["clock"]
        far = _timestamp(_START + timedelta(days=200, microseconds=1))
        program.result("advanceTestClock", {"id": created["id"], "frozenTime": far}, token)
        written = await loaded_tab.page.evaluate(_TO_PARAMS, _with_details(program, token, created["id"]))
        copied = program.result("createTestClock", written, token)["clock"]
        assert (copied["frozenTime"], copied["maxTime"]) == (created["frozenTime"], created["maxTime"])
        for at in (_timestamp(_START), far, _timestamp(_START + timedelta(days=500))):
            forks = [{"id": id, "at": at} for id in (created["id"], copied["id"])]
            original, copy = (
                _expected(response["result"]["clock"], *_server_balances(program, token, fork["id"], [at]))
                for fork, response in zip(forks, program.batch("forkTestClock", forks, token), strict=True)
            )
            assert len(original.pop("posted_ids")) == len(copy.pop("posted_ids"))
            assert original == copy


async def test_timestamps_are_parsed_and_formatted_like_on_the_server(loaded_tab: Tab) -> None:
    script = """async (texts) => {
      const { parseInstant, toTimestamp } = await importModule("lib/instants.js");
      return texts.map((text) => toTimestamp(parseInstant(text)));
    }"""
    same = [
        "2027-01-31T09:00:00Z",
        "2027-01-31T09:00:00.000001Z",
        "2046-12-31T23:59:59.999999Z",
        "2016-02-29T00:00:00.500000Z",
    ]
    assert await loaded_tab.page.evaluate(script, same) == same
    others = {
        "2027-01-31t10:00:00.25+01:00": "2027-01-31T09:00:00.250000Z",
        "2027-01-31T09:00:00.1234569z": "2027-01-31T09:00:00.123456Z",
        "2026-12-31T23:59:60Z": "2027-01-01T00:00:00Z",
    }
    assert await loaded_tab.page.evaluate(script, list(others)) == list(others.values())


async def test_adding_a_month_stays_in_the_next_month(loaded_tab: Tab) -> None:
    script = """async (texts) => {
      const { addMonths, parseInstant, toTimestamp } = await importModule("lib/instants.js");
      return texts.map((text) => toTimestamp(addMonths(parseInstant(text), 1)));
    }"""
    expected = {
        "2027-01-31T09:00:00.000001Z": "2027-02-28T09:00:00.000001Z",
        "2028-01-31T00:00:00Z": "2028-02-29T00:00:00Z",
        "2027-12-15T12:00:00Z": "2028-01-15T12:00:00Z",
    }
    assert await loaded_tab.page.evaluate(script, list(expected)) == list(expected.values())


_DIFFERENCES = """async (clocks) => {
  const { compareBalances, findDifferences, totalChange } = await importModule("clock/compare-model.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const { toTimestamp } = await importModule("lib/instants.js");
  const models = clocks.map((params) => parseParams(params));
  const { from, differsFrom, largestAt, delta } = compareBalances(models, "EUR");
  const time = (instant) => (Number.isFinite(instant) ? toTimestamp(instant).slice(0, 10) : null);
  const found = findDifferences(models).map((entry) => [
    ...entry.items.map((item) => item && `${item.name} ${item.amount} ${time(item.at)}`),
    entry.count,
    totalChange(entry),
  ]);
  return { found, times: [from, differsFrom, largestAt].map(time), values: delta.values };
}"""


def _clock(start: str, *items: tuple[str, float, str]) -> dict[str, Any]:
    transactions = [
        {"name": name, "amount": amount, "currency": "EUR", "type": "EXPENSE", "at": f"2027-{day}T00:00:00Z"}
        for name, amount, day in items
    ]
    return {"frozenTime": f"2027-{start}T00:00:00Z", "transactions": transactions}


async def test_changed_and_moved_items_of_two_clocks_are_paired(loaded_tab: Tab) -> None:
    rent = [("Rent", 900.1, day) for day in ("01-03", "02-03", "03-03")]
    first = _clock("01-01", *rent, ("Gym", 20, "01-05"), ("Gym", 20, "02-05"), ("Bus", 9, "01-09"), ("Tea", 1, "01-02"))
    more = [("Rent", 900.4, day) for day in ("02-03", "03-03")]
    second = _clock("01-01", *more, ("Gym", 20, "01-07"), ("Gym", 20, "02-07"), ("Tea", 1, "01-02"))
    result = await loaded_tab.page.evaluate(_DIFFERENCES, [first, second])
    assert result["found"] == [
        ["Rent 900.1 2027-01-03", None, 1, -900.1],
        ["Gym 20 2027-01-05", "Gym 20 2027-01-07", 2, 0],
        ["Bus 9 2027-01-09", None, 1, -9],
        ["Rent 900.1 2027-02-03", "Rent 900.4 2027-02-03", 2, -0.6],
    ]
    assert result["times"] == ["2027-01-01", "2027-01-03", "2027-02-05"]


async def test_two_clocks_are_compared_from_the_later_start(loaded_tab: Tab) -> None:
    first = _clock("01-01", ("Rent", 900, "01-03"), ("Gym", 20, "02-05"))
    second = _clock("02-01", ("Rent", 900, "02-03"))
    result = await loaded_tab.page.evaluate(_DIFFERENCES, [first, second])
    assert result["times"] == ["2027-02-01", "2027-02-01", "2027-02-01"]
    assert result["values"] == [900, 0, 20]
    result = await loaded_tab.page.evaluate(_DIFFERENCES, [first, first])
    assert (result["found"], result["times"]) == ([], ["2027-01-01", None, "2027-01-01"])


async def test_rules_decide_when_a_compared_balance_is_too_low(loaded_tab: Tab) -> None:
    script = """async () => {
      const { firstBreach } = await importModule("clock/compare-model.js");
      const { smallestOf } = await importModule("clock/expectations.js");
      const isTooLow = (value, at, rules) => value < smallestOf(rules, at);
      const rule = { atLeast: -500, from: 0, to: 10 };
      const balance = { times: [2, 4], values: [0, -400, -600] };
      return [
        isTooLow(-400, 3, []), isTooLow(-400, 3, [rule]), isTooLow(-600, 4, [rule]), isTooLow(-400, 11, [rule]),
        isTooLow(-400, 11, [{ atMost: 9, from: 0, to: 10 }]),
        isTooLow(-400, 3, [rule, { ...rule, atLeast: -300 }]),
        firstBreach(balance, [rule, { ...rule, atLeast: -300 }]), firstBreach(balance, [rule]),
        firstBreach(balance, []) === Infinity,
      ];
    }"""
    assert await loaded_tab.page.evaluate(script) == [True, False, True, False, True, True, 2, 4, True]


async def test_next_step_has_the_net_amount_of_all_events_at_its_time(loaded_tab: Tab) -> None:
    script = """async ({ params, nows }) => {
      const { describeStep } = await importModule("clock/clock-text.js");
      const { nextItems, parseParams } = await importModule("clock/clock-model.js");
      const { parseInstant } = await importModule("lib/instants.js");
      const model = parseParams(params);
      const steps = nows.map((now) => nextItems({ ...model, now: parseInstant(now) }));
      return steps.map((items) => (items.length ? Object.values(describeStep(items)) : null));
    }"""
    clock = _clock("01-01", ("Tax", 642.4, "01-03"), ("Rent", 900, "01-04"))
    [tax, rent] = clock["transactions"]
    pay = {**tax, "name": "Pay", "amount": 5840, "type": "INCOME"}
    fee = {**tax, "name": "Fee", "amount": 3, "currency": "CHF"}
    contribution = {"amount": 5, "at": rent["at"]}
    goals = [{"name": name, "targetAmount": 9, "contributions": [contribution]} for name in ("Trip", "Car")]
    params = {**clock, "transactions": [pay, tax, fee, {**rent, "at": "2027-01-05T00:00:00Z"}], "goals": goals}
    nows = [f"2027-01-0{day}T00:00:00Z" for day in (1, 3, 4, 5)]
    assert await loaded_tab.page.evaluate(script, {"params": params, "nows": nows}) == [
        ["3 events", "+€5,197.60, −CHF\xa03.00", "Pay +€5,840.00; Tax −€642.40; Fee −CHF\xa03.00"],
        ["2 events", "", "Trip +5.00; Car +5.00"],
        ["Rent", "−€900.00", "Rent"],
        None,
    ]


_STATES = """async ({ params, expectations, days }) => {
  const { expectationState, progressText } = await importModule("clock/expectations.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const model = parseParams(params);
  return days.map((day) => expectations.map((expectation) => {
    const current = { ...model, now: model.now + day * 86_400_000 };
    const state = expectationState(expectation, { ok: true }, current);
    return state === "held" ? state : `${state}: ${progressText(expectation, current)}`;
  }));
}"""


async def test_expectation_is_held_when_nothing_can_break_it(loaded_tab: Tab) -> None:
    rent = {"name": "Rent", "type": "EXPENSE", "amount": 10, "currency": "EUR"}
    params = {
        "frozenTime": "2027-01-01T00:00:00Z",
        "transactions": [
            {**rent, "at": "2027-01-03T00:00:00Z"},
            {**rent, "at": "2027-01-05T00:00:00Z"},
            {**rent, "currency": "USD", "name": "Gym", "at": "2027-01-09T00:00:00Z"},
        ],
        "goals": [
            {
                "name": "Trip",
                "targetAmount": 9,
                "initialAmount": 1.5,
                "contributions": [
                    {"amount": 7.5, "at": "2027-01-04T00:00:00Z"},
                    {"amount": 1, "at": "2027-01-08T00:00:00Z"},
                ],
            },
            {"name": "Done", "targetAmount": 1, "initialAmount": 1, "contributions": []},
        ],
    }
    by = "2027-02-01T00:00:00Z"
    total = {"type": "EXPENSE", "currency": "EUR", "atMost": 100}
    held_from = [
        # The day since 1 January from which an expectation is held, and its progress before and on the day before.
        ({"posted": {"name": "Rent", "count": 2, "by": by}}, 4, "0 of 2 posted so far", "1 of 2 posted so far"),
        ({"posted": {"name": "Gym", "by": by}}, 8, "Not posted yet", "Not posted yet"),
        ({"goalReached": {"goal": "Trip", "by": by}}, 3, "1.50 of 9.00 so far", "1.50 of 9.00 so far"),
        ({"goalReached": {"goal": "goal 1", "by": by}}, 0, "", ""),
        ({"balance": {"currency": "EUR", "atLeast": -50}}, 4, "", ""),
        ({"balance": {"currency": "USD", "atLeast": -50}}, 8, "", ""),
        ({"balance": {"currency": "USD", "atLeast": -50, "until": "2027-01-07T00:00:00Z"}}, 6, "", ""),
        ({"balance": {"currency": "CHF", "atLeast": 0}}, 0, "", ""),
        ({"total": total}, 4, "", ""),
    ]
    expectations = [expectation for expectation, *_ in held_from]
    states = await loaded_tab.page.evaluate(
        _STATES, {"params": params, "expectations": expectations, "days": list(range(10))}
    )
    for index, (expectation, day, first, last) in enumerate(held_from):
        found = [row[index] for row in states]
        assert found[day:] == ["held"] * (10 - day), expectation
        if day:
            assert "held" not in found[:day], expectation
            assert (found[0], found[day - 1]) == (f"will hold: {first}", f"will hold: {last}")


async def test_sign_of_an_amount_stays_with_it(loaded_tab: Tab) -> None:
    script = """async (text) => {
      const { h, withAmounts } = await importModule("lib/dom.js");
      const paragraph = h("p", {}, withAmounts(text));
      return [paragraph.textContent, ...[...paragraph.querySelectorAll(".nowrap")].map((node) => node.textContent)];
    }"""
    for text, amounts in (
        ("EUR balance never below −€500.00 until 1 Feb", ["−€500.00"]),
        ("−€1,150.00 → +€20.00.", ["−€1,150.00", "+€20.00."]),
        ("“C++ course” on 1 Feb", []),
    ):
        assert await loaded_tab.page.evaluate(script, text) == [text, *amounts]


async def test_message_after_an_advance_names_what_posted(loaded_tab: Tab) -> None:
    script = """async ({ params, steps }) => {
      const { advanceText } = await importModule("clock/clock-text.js");
      const { parseInstant } = await importModule("lib/instants.js");
      const { parseParams } = await importModule("clock/clock-model.js");
      const model = parseParams(params);
      return steps.map(([from, now]) =>
        advanceText({ ...model, now: parseInstant(now) }, parseInstant(from)).replaceAll("\u00a0", " "));
    }"""
    clock = _clock("01-01", ("Rent", 900, "01-03"), ("Tea", 1.5, "01-05"))
    [rent, _tea] = clock["transactions"]
    clock["transactions"].append({**rent, "currency": "CHF", "at": "2027-01-05T00:00:00Z"})
    contribution = {"amount": 5, "at": "2027-01-04T00:00:00Z"}
    params = {**clock, "goals": [{"name": "Trip", "targetAmount": 9, "contributions": [contribution]}]}
    steps = [(f"2027-01-0{first}T00:00:00Z", f"2027-01-0{last}T00:00:00Z") for first, last in ("12", "13", "34", "35")]
    assert await loaded_tab.page.evaluate(script, {"params": params, "steps": steps}) == [
        "Advanced to 2 Jan 2027. Nothing posted.",
        "Rent −€900.00. Balance −€900.00.",
        "Trip +5.00.",
        "3 events posted. Balances −€901.50, −CHF 900.00.",
    ]
