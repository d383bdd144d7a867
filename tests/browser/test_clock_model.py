"""The clock model of the console, compared with responses of the server."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.browser.console import new_address
from tests.browser.tabs import Tab
from tests.support.program import Program

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
