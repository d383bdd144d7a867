"""Generates the examples of the OpenRPC document. `python -m tests.support.operation_examples` writes them.

They run one after the other on a server that starts at 2027-01-01T12:00:00Z without users. IDs come from a seed, so
results are the same in every run. Read the diff before you commit it.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.rpc.test_errors_table import PROVOKED, Place
from tests.support.transcripts import ROOT, pretty
from tests.support.world import World, open_world
from tickover.api.errors import Reason

FILE: Final = ROOT / "src" / "tickover" / "server" / "openrpc" / "examples.json"

_SCENARIO: Final = """\
title = "Home"
currency = "EUR"
length = "1 month"

[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "month on the 3rd"

[[expect]]
never_below = -1000
"""
_SCHEDULE: Final[dict[str, Any]] = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {"at": "2027-01-25T09:00:00+01:00", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"},
        {
            "at": "2027-01-03T08:00:00Z",
            "name": "Rent",
            "amount": 1150.5,
            "currency": "EUR",
            "type": "EXPENSE",
            "category": "home",
        },
    ],
    "goals": [
        {
            "name": "Trip",
            "targetAmount": 3000,
            "initialAmount": 500,
            "contributions": [
                {"at": "2027-01-26T08:00:00Z", "amount": 310},
                {"at": "2027-02-26T08:00:00Z", "amount": 310},
            ],
        }
    ],
}


_INVALID_PARAMS: Final = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {"at": "2026-12-31T23:59:59Z", "name": "Rent", "amount": -5, "currency": "EUR", "type": "EXPENSE"}
    ],
    "goals": [{"name": "Trip", "targetAmount": 1000, "initialAmount": 1001, "colour": "blue"}],
}


class _Recorder:
    """Makes calls and records them as examples."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.token: str | None = None
        self.examples: list[dict[str, Any]] = []

    async def call(self, title: str, method: str, /, **params: Any) -> Any:
        """Return the result of the call."""
        result = await self._world.result(method, params, self.token)
        self.examples.append({"method": method, "name": title, "params": params, "result": result})
        return result


async def generate(folder: Path) -> dict[str, Any]:
    """Return all examples. The servers store their data in this folder."""
    async with open_world(_create_folder(folder / "results")) as world:
        results = await _results(world)
    # No caller can cause INTERNAL.
    reasons = [reason for reason in Reason if reason is not Reason.INTERNAL]
    return {"results": results, "errors": {str(reason): await _error(reason, folder / reason) for reason in reasons}}


async def _error(reason: Reason, folder: Path) -> Any:
    place = Place(_create_folder(folder), f"sqlite:///{folder}/tickover.db")
    if reason is Reason.INVALID_PARAMS:
        async with open_world(*place) as world:
            return await world.error("createTestClock", _INVALID_PARAMS, await world.sign_in())
    return (await PROVOKED[reason](place, False)).json["error"]


def _create_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _results(world: World) -> list[dict[str, Any]]:
    recorder = _Recorder(world)
    bo = {"email": "bo@example.test", "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}
    ana = {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
    await recorder.call("A code", "sendLoginCodeEmail", **ana)
    code = str(world.emails()[-1]["Subject"]).split()[0]
    link = (await recorder.call("A link", "sendLoginCodeEmail", **bo))["loginUrl"]
    by_code = {"email": "ana@example.test", "code": code, "authenticationMethod": "EMAIL_CODE"}
    ana_login = await recorder.call("With a code", "loginByEmailVerification", **by_code)
    bo_login = await recorder.call("With a link", "loginByEmailLink", token=link.partition("#token=")[2])
    recorder.token = ana_login["token"]
    clock = (await recorder.call("Salary, rent, and a trip to save for", "createTestClock", **_SCHEDULE))["clock"]["id"]
    world.pass_time(minutes=1)
    await recorder.call("A clock with nothing on it, at the real now", "createTestClock")
    world.pass_time(minutes=1)
    named = await recorder.call("With a name and a label", "createTestClock", name="Nightly run", labels={"ci": "1"})
    await recorder.call(
        "Another name, and no labels", "updateTestClock", id=named["clock"]["id"], name="Kept", labels=None
    )
    world.pass_time(minutes=1)
    moved = await recorder.call("By a month", "advanceTestClock", id=clock, frozenTime="2027-02-01T00:00:00Z")
    [goal] = moved["clock"]["goals"]
    await recorder.call("As it would be in March", "getTestClock", id=clock, at="2027-03-01T00:00:00Z")
    await recorder.call("All of January", "listTestClockEvents", id=clock, openingBalances={"EUR": 1000})
    await recorder.call(
        "What is still to come, one event at a time",
        "listTestClockEvents",
        id=clock,
        after="2027-02-01T00:00:00Z",
        until="2037-01-01T00:00:00Z",
        limit=1,
    )
    await recorder.call("Now", "getTestClockBalances", id=clock, openingBalances={"EUR": 1000})
    await recorder.call(
        "Did the money hold?",
        "checkTestClock",
        id=clock,
        openingBalances={"EUR": 1000},
        expectations=[
            {"balance": {"currency": "EUR", "atLeast": 0}},
            {"goalReached": {"goal": "Trip", "by": "2027-12-31T00:00:00Z"}},
            {"total": {"type": "EXPENSE", "currency": "EUR", "category": "home", "per": "MONTH", "atMost": 1200}},
            {"posted": {"name": "Salary", "by": "2027-01-31T00:00:00Z"}},
        ],
    )
    await recorder.call("A month of rent", "expandScenario", text=_SCENARIO, start="2027-01-01T00:00:00Z")
    await recorder.call("As CSV", "exportTestClock", id=clock, format="csv", openingBalances={"EUR": 1000})
    await recorder.call(
        "A late bonus, and one contribution less",
        "amendTestClock",
        id=clock,
        add={
            "transactions": [
                {
                    "at": "2027-02-01T00:00:00Z",
                    "name": "Bonus",
                    "amount": 400,
                    "currency": "EUR",
                    "type": "INCOME",
                }
            ]
        },
        cancel=[goal["upcomingContributions"][0]["id"]],
    )
    fork = (await recorder.call("Back to where it started", "forkTestClock", id=clock))["clock"]["id"]
    page = await recorder.call("The newest two", "listTestClocks", limit=2)
    await recorder.call("And the rest", "listTestClocks", limit=2, cursor=page["nextCursor"])
    await recorder.call("The fork", "deleteTestClock", id=fork)
    recorder.token = bo_login["token"]
    await recorder.call("The token of a sign-in", "getCurrentUser")
    ci = {"name": "CI", "expiresInDays": 30}
    token = await recorder.call("For a CI job", "createAccessToken", **ci)
    await recorder.call("One token", "listAccessTokens")
    await recorder.call("The token of the CI job", "revokeAccessToken", id=token["id"])
    await recorder.call("Signing out", "logout")
    return recorder.examples


def main() -> None:
    with TemporaryDirectory() as folder:
        FILE.write_text(pretty(asyncio.run(generate(Path(folder)))) + "\n", "utf-8")


if __name__ == "__main__":
    main()
