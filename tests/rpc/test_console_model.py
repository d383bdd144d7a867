"""The console computes previews in the browser. They equal the views of the server."""

import json
import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.world import World

_START = datetime(2027, 1, 31, 9, 0, tzinfo=UTC)
_AMOUNTS = (0.1, 0.2, 0.3, 1e-7, 3e-7, 1e-12, 5e-324, 0.005, 1.005, 12.34, 133.335, 1150.5, 999_999.99, 10**9)
_OPENING = {"EUR": 0.7, "CHF": -3}


def show_in_console(cases: list[dict[str, Any]]) -> list[Any]:
    """Return what the console shows of each clock at some instants, and the parameters of its model."""
    script = Path(__file__).with_name("console_views.mjs")
    ran = subprocess.run(
        ["node", script], input=json.dumps(cases), capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    shown: list[Any] = json.loads(ran.stdout)
    return shown


def _timestamp(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def _random_time(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return _timestamp(_START)
    instant = _START + timedelta(days=rng.randrange(400), seconds=rng.choice((0, 0, 1, 3600)))
    # Microseconds matter, and items can share an instant.
    return _timestamp(instant + timedelta(microseconds=rng.choice((0, 0, 0, 1, 250_000, 999_999))))


def _random_goal(rng: random.Random) -> dict[str, Any]:
    target = rng.choice(_AMOUNTS)
    return {
        "name": "Goal",
        "targetAmount": target,
        "initialAmount": rng.choice((0, target, *(amount for amount in _AMOUNTS if amount <= target))),
        "contributions": [{"at": _random_time(rng), "amount": rng.choice(_AMOUNTS)} for _ in range(rng.randrange(12))],
    }


def _random_clock(rng: random.Random) -> dict[str, Any]:
    return {
        "frozenTime": _timestamp(_START),
        "transactions": [
            {
                "at": _random_time(rng), "name": f"Item {number}", "amount": rng.choice(_AMOUNTS),
                "currency": rng.choice(("EUR", "JPY", "XXX")), "type": rng.choice(("INCOME", "EXPENSE")),
                "category": rng.choice(("Work", "Home")),
            }
            for number in range(rng.randrange(20))
        ],
        "goals": [_random_goal(rng) for _ in range(rng.randrange(6))],
        "openingBalances": _OPENING,
    }  # fmt: skip


def _random_instants(rng: random.Random, params: dict[str, Any]) -> list[str]:
    """Return instants with and without items."""
    times = [entry["at"] for entry in params["transactions"]]
    times += [entry["at"] for goal in params["goals"] for entry in goal["contributions"]]
    some = rng.sample(times, min(8, len(times))) + [_random_time(rng) for _ in range(4)] + [_timestamp(_START)]
    return sorted(set(some), key=datetime.fromisoformat)


class Server:
    def __init__(self, world: World, token: str) -> None:
        self._world = world
        self._token = token

    async def clock(self, method: str, **params: Any) -> Any:
        return (await self._world.result(method, params, self._token))["clock"]

    async def view(self, id: str, at: str) -> dict[str, Any]:
        """Return what the console must show. A fork shows a clock at an earlier time."""
        clock = await self.clock("forkTestClock", id=id, at=at)
        balances = (await self._world.result("getTestClockBalances", {"id": id, "at": at}, self._token))["balances"]
        contributions = [entry for goal in clock["goals"] for entry in goal["contributions"]]
        return {
            "posted": [entry["id"] for entry in clock["transactions"] + contributions],
            "balances": {entry["currency"]: [entry["balance"], entry["lowest"]["balance"]] for entry in balances},
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


def _without_ids(view: dict[str, Any]) -> dict[str, Any]:
    """A fork has its own IDs, and parameters have none."""
    return {**view, "posted": len(view["posted"])}


async def test_previews_equal_the_views_of_the_server(world: World, token: str) -> None:
    rng, server = random.Random(0), Server(world, token)
    cases: list[dict[str, Any]] = []
    expected: list[list[dict[str, Any]]] = []
    for _ in range(25):
        params = _random_clock(rng)
        instants = _random_instants(rng, params)
        id = (await server.clock("createTestClock", **params))["id"]
        created = await server.clock("getTestClock", id=id, details=True)
        middle = instants[len(instants) // 2]
        advanced = await server.clock("advanceTestClock", id=id, frozenTime=middle)
        details = await server.clock("getTestClock", id=id, details=True)
        views = [_without_ids(await server.view(id, at)) for at in instants]
        for source in (
            {"snapshot": created},
            {"params": params},
            {"snapshot": advanced, "before": created},
            {"snapshot": details},
        ):
            cases.append({**source, "instants": instants})
            expected.append(views)
    shown = [[_without_ids(view) for view in case["views"]] for case in show_in_console(cases)]
    assert shown == expected


async def test_model_can_be_converted_back_to_params(world: World, token: str) -> None:
    rng, server = random.Random(2), Server(world, token)
    ids = [(await server.clock("createTestClock", **_random_clock(rng)))["id"] for _ in range(5)]
    far = _timestamp(_START + timedelta(days=200, microseconds=1))
    for id in ids:
        await server.clock("advanceTestClock", id=id, frozenTime=far)
    snapshots = [await server.clock("getTestClock", id=id, details=True) for id in ids]
    written = show_in_console([{"snapshot": snapshot, "instants": []} for snapshot in snapshots])
    for id, case in zip(ids, written, strict=True):
        copy = (await server.clock("createTestClock", **case["params"]))["id"]
        for at in (_timestamp(_START), far, _timestamp(_START + timedelta(days=500))):
            assert _without_ids(await server.view(copy, at)) == _without_ids(await server.view(id, at))
