"""Records the results of the examples in the reference. `python -m scripts.record_examples` writes them.

They run one after the other on a server that starts at 2027-01-01T12:00:00Z without users. IDs come from a seed, so
results are the same in every run. Read the diff before you commit it.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from scripts.update_transcripts import WIDTH
from tests.rpc.test_errors_table import provoke
from tests.support.repository import ROOT
from tests.support.world import World, open_world
from tickover.api.errors import Reason
from tickover.server.operations import OPERATIONS
from tickover.server.web.api_reference import pretty

FILE: Final = ROOT / "src" / "tickover" / "server" / "rpc" / "openrpc" / "recorded.json"

_FIRST: Final = (
    "sendLoginCodeEmail",
    "loginByEmailVerification",
    "loginByEmailLink",
    "createTestClock",
    "updateTestClock",
    "advanceTestClock",
)
_LAST: Final = ("amendTestClock", "forkTestClock", "listTestClocks", "deleteTestClock")
"""These change what the others show. They run after all operations that aren't listed here."""
_BY_BO: Final = ("getCurrentUser", "createAccessToken", "listAccessTokens", "revokeAccessToken", "logout")
"""Ana makes all other calls."""

_NEWEST: Final = (
    "connectTestClock",
    "listTestClockConnections",
    "updateTestClockConnection",
    "listConnectionCalls",
    "disconnectTestClock",
    "createTestClockFromScenario",
    "deleteCurrentUser",
)
"""They run last, so that the IDs in the other examples stay the same."""

_INVALID_PARAMS: Final = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {"at": "2026-12-31T23:59:59Z", "name": "Rent", "amount": -5, "currency": "EUR", "type": "EXPENSE"}
    ],
    "goals": [{"name": "Trip", "targetAmount": 1000, "initialAmount": 1001, "colour": "blue"}],
}


async def generate(folder: Path) -> dict[str, Any]:
    """Return all results, and an example of each error. The servers store their data in this folder."""
    async with open_world(_create_folder(folder / "results")) as world:
        results = await _results(world)
    # No caller can cause INTERNAL.
    reasons = [reason for reason in Reason if reason is not Reason.INTERNAL]
    return {"results": results, "errors": {str(reason): await _error(reason, folder / reason) for reason in reasons}}


async def _error(reason: Reason, folder: Path) -> Any:
    _create_folder(folder)
    if reason is Reason.INVALID_PARAMS:
        async with open_world(folder) as world:
            return await world.error("createTestClock", _INVALID_PARAMS, await world.sign_in())
    return (await provoke(reason, folder)).json["error"]


def _create_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _results(world: World) -> dict[str, dict[str, Any]]:
    listed = (*_FIRST, *_LAST, *_BY_BO, *_NEWEST, "rpc.discover")
    others = [name for name in OPERATIONS if name not in listed]
    results: dict[str, dict[str, Any]] = {}
    for name in (*_FIRST, *others, *_LAST, *_BY_BO, *_NEWEST):
        login = "loginByEmailLink" if name in _BY_BO else "loginByEmailVerification"
        token = None if OPERATIONS[name].needs is None else next(iter(results[login].values()))["token"]
        for title, params in OPERATIONS[name].examples.items():
            results.setdefault(name, {})[title] = await world.result(name, dict(params), token)
            if name == "createTestClock":
                world.pass_time(minutes=1)
    return {name: results[name] for name in OPERATIONS if name in results}


def main() -> None:
    with TemporaryDirectory() as folder:
        FILE.write_text(pretty(asyncio.run(generate(Path(folder))), WIDTH) + "\n", "utf-8")


if __name__ == "__main__":
    main()
