"""The console computes by itself what a clock shows at any instant: held against the server's own answers."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pytest

from tests.browser.tabs import Tab
from tests.support.program import Program

pytestmark = pytest.mark.asyncio(loop_scope="session")

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
_SIMPLE = (0.1, 0.2, 0.3, 1, 12.34, 0.005, 300, 1150.5, 99_999.99)

_VIEWS = """async ({ snapshot, before, params, instants }) => {
  const { readClock, readParams, viewAt } = await import("/assets/js/clock-model.js");
  const { readInstant } = await import("/assets/js/instants.js");
  const model = params ? readParams(params) : readClock(snapshot, before && readClock(before));
  return instants.map((text) => {
    const view = viewAt(model, readInstant(text));
    return {
      happened: model.items.slice(0, view.happened).map((item) => item.id).sort(),
      flows: Object.fromEntries(view.flows),
      goals: view.goals.map(({ current, remaining, percent, posted, next }) =>
        ({ current, remaining, percent, posted, next: next?.amount })),
    };
  });
}"""

_WRITE_PARAMS = """async (snapshot) => {
  const { readClock, writeParams } = await import("/assets/js/clock-model.js");
  const { writeInstant } = await import("/assets/js/instants.js");
  return writeParams(readClock(snapshot), writeInstant);
}"""


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("model")) as started:
        yield started


@pytest.fixture(scope="module")
def token(program: Program) -> str:
    return program.sign_in()


def _write(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _some_time(chance: random.Random) -> str:
    moment = _START + timedelta(days=chance.randrange(400), seconds=chance.choice((0, 0, 1, 3600)))
    # Not a microsecond is lost, and many things happen at once.
    return _write(moment + timedelta(microseconds=chance.choice((0, 0, 0, 1, 250_000, 999_999))))


def _some_clock(chance: random.Random, amounts: tuple[float, ...]) -> dict[str, Any]:
    def goal(number: int) -> dict[str, Any]:
        target = chance.choice(amounts)
        return {
            "name": f"Goal {number}",
            "targetAmount": target,
            "initialAmount": chance.choice((0, target, *(amount for amount in amounts if amount <= target))),
            "contributions": [
                {"at": _some_time(chance), "amount": chance.choice(amounts)} for _ in range(chance.randrange(12))
            ],
        }

    return {
        "frozenTime": _write(_START),
        "transactions": [
            {
                "at": _some_time(chance), "name": f"Item {number}", "amount": chance.choice(amounts),
                "currency": chance.choice(("EUR", "JPY", "XXX")), "type": chance.choice(("INCOME", "EXPENSE")),
            }
            for number in range(chance.randrange(20))
        ],
        "goals": [goal(number) for number in range(chance.randrange(6))],
    }  # fmt: skip


def _some_instants(chance: random.Random, params: dict[str, Any], since: str = "") -> list[str]:
    """Those at which something happens, and others."""
    happening = [entry["at"] for entry in params["transactions"]]
    happening += [entry["at"] for goal in params["goals"] for entry in goal["contributions"]]
    chosen = (
        chance.sample(happening, min(8, len(happening))) + [_some_time(chance) for _ in range(4)] + [_write(_START)]
    )
    return sorted({instant for instant in chosen if _moment(instant) >= _moment(since or _write(_START))})


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _flows(clock: dict[str, Any], currencies: list[str]) -> dict[str, float]:
    """With exact decimals; the server adds up goals, but not transactions."""
    with localcontext(prec=1000):
        sums = dict.fromkeys(currencies, Decimal(0))
        for entry in clock["transactions"]:
            sums[entry["currency"]] += Decimal(repr(entry["amount"])) * (1 if entry["type"] == "INCOME" else -1)
        return {currency: float(sum) for currency, sum in sums.items()}


def _expected(clock: dict[str, Any]) -> dict[str, Any]:
    """What the console has to show of what the server answers."""
    contributions = [entry for goal in clock["goals"] for entry in goal["contributions"]]
    everything = clock["transactions"] + clock["pendingTransactions"]
    return {
        "happened": sorted(entry["id"] for entry in clock["transactions"] + contributions),
        "flows": _flows(clock, sorted({entry["currency"] for entry in everything})),
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


def _as_if_sent(view: dict[str, Any]) -> dict[str, Any]:
    goals = [{"next": None, **goal} for goal in view["goals"]]
    return {**view, "flows": dict(sorted(view["flows"].items())), "goals": goals}


def _ask(program: Program, token: str, id: str, instants: list[str]) -> list[dict[str, Any]]:
    answers = program.batch("getTestClock", [{"id": id, "at": at} for at in instants], token)
    return [_expected(answer["result"]["clock"]) for answer in answers]


@pytest.mark.parametrize("seed", range(4))
async def test_every_preview_is_what_the_server_would_say(program: Program, token: str, tab: Tab, seed: int) -> None:
    await tab.page.goto(f"{program.url}/login")
    chance = random.Random(seed)
    for _ in range(10):
        await _compare_previews(program, token, tab, chance)


async def _compare_previews(program: Program, token: str, tab: Tab, chance: random.Random) -> None:
    params = _some_clock(chance, _AMOUNTS)
    created = program.result("createTestClock", params, token)["clock"]
    instants = _some_instants(chance, params)
    views = await tab.page.evaluate(_VIEWS, {"snapshot": created, "instants": instants})
    assert [_as_if_sent(view) for view in views] == _ask(program, token, created["id"], instants)
    # And once it was moved, by one who has seen it before.
    middle = instants[len(instants) // 2]
    moved = program.result("advanceTestClock", {"id": created["id"], "frozenTime": middle}, token)["clock"]
    instants = _some_instants(chance, params, since=middle)
    views = await tab.page.evaluate(_VIEWS, {"snapshot": moved, "before": created, "instants": instants})
    assert [_as_if_sent(view) for view in views] == _ask(program, token, created["id"], instants)


@pytest.mark.parametrize("seed", range(2))
async def test_looking_back_is_what_a_fork_would_say(program: Program, token: str, tab: Tab, seed: int) -> None:
    await tab.page.goto(f"{program.url}/login")
    chance = random.Random(1_000 + seed)
    for _ in range(10):
        await _compare_with_forks(program, token, tab, chance)


async def _compare_with_forks(program: Program, token: str, tab: Tab, chance: random.Random) -> None:
    """Of a clock that was moved, and that the console has not seen before."""
    params = _some_clock(chance, _SIMPLE)
    created = program.result("createTestClock", params, token)["clock"]
    instants = _some_instants(chance, params)
    moved = program.result("advanceTestClock", {"id": created["id"], "frozenTime": instants[-1]}, token)["clock"]
    views = await tab.page.evaluate(_VIEWS, {"snapshot": moved, "instants": instants})
    for at, view in zip(instants, views, strict=True):
        fork = program.result("forkTestClock", {"id": created["id"], "at": at}, token)["clock"]
        expected = _expected(fork)
        assert len(view["happened"]) == len(expected["happened"])
        assert {**_as_if_sent(view), "happened": []} == {**expected, "happened": []}


async def test_a_scenario_shows_what_it_would_make(program: Program, token: str, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login")
    chance = random.Random(2_000)
    for _ in range(10):
        await _compare_with_params(program, token, tab, chance)


async def _compare_with_params(program: Program, token: str, tab: Tab, chance: random.Random) -> None:
    params = _some_clock(chance, _AMOUNTS)
    created = program.result("createTestClock", params, token)["clock"]
    instants = _some_instants(chance, params)
    views = await tab.page.evaluate(_VIEWS, {"params": params, "instants": instants})
    for view, expected in zip(views, _ask(program, token, created["id"], instants), strict=True):
        assert len(view["happened"]) == len(expected["happened"])
        assert {**_as_if_sent(view), "happened": []} == {**expected, "happened": []}


async def test_what_is_on_the_screen_is_enough_to_make_the_clock_again(program: Program, token: str, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login")
    chance = random.Random(3_000)
    for _ in range(5):
        created = program.result("createTestClock", _some_clock(chance, _SIMPLE), token)["clock"]
        far = _write(_START + timedelta(days=200, microseconds=1))
        moved = program.result("advanceTestClock", {"id": created["id"], "frozenTime": far}, token)["clock"]
        written = await tab.page.evaluate(_WRITE_PARAMS, moved)
        again = program.result("createTestClock", written, token)["clock"]
        assert (again["frozenTime"], again["maxTime"]) == (created["frozenTime"], created["maxTime"])
        for at in (_write(_START), far, _write(_START + timedelta(days=500))):
            forks = [{"id": id, "at": at} for id in (created["id"], again["id"])]
            one, other = (
                _expected(answer["result"]["clock"]) for answer in program.batch("forkTestClock", forks, token)
            )
            assert len(one.pop("happened")) == len(other.pop("happened"))
            assert one == other


async def test_times_are_read_and_written_as_the_server_does(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login")
    script = """async (texts) => {
      const { readInstant, writeInstant } = await import("/assets/js/instants.js");
      return texts.map((text) => writeInstant(readInstant(text)));
    }"""
    same = [
        "2027-01-31T09:00:00Z",
        "2027-01-31T09:00:00.000001Z",
        "2046-12-31T23:59:59.999999Z",
        "2016-02-29T00:00:00.500000Z",
    ]
    assert await tab.page.evaluate(script, same) == same
    others = {
        "2027-01-31t10:00:00.25+01:00": "2027-01-31T09:00:00.250000Z",
        "2027-01-31T09:00:00.1234569z": "2027-01-31T09:00:00.123456Z",
        "2026-12-31T23:59:60Z": "2027-01-01T00:00:00Z",
    }
    assert await tab.page.evaluate(script, list(others)) == list(others.values())


async def test_a_month_later_is_never_in_the_month_after(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login")
    script = """async (texts) => {
      const { addMonths, readInstant, writeInstant } = await import("/assets/js/instants.js");
      return texts.map((text) => writeInstant(addMonths(readInstant(text), 1)));
    }"""
    expected = {
        "2027-01-31T09:00:00.000001Z": "2027-02-28T09:00:00.000001Z",
        "2028-01-31T00:00:00Z": "2028-02-29T00:00:00Z",
        "2027-12-15T12:00:00Z": "2028-01-15T12:00:00Z",
    }
    assert await tab.page.evaluate(script, list(expected)) == list(expected.values())
