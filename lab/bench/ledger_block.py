"""The block of questions about money: events, balances and checks of a grown clock, against reading the clock."""

from collections.abc import Mapping
from typing import Any

from lab.bench import bodies
from lab.bench.calls import result
from lab.bench.load import repeating
from lab.bench.plan import LEDGER
from lab.bench.rounds import Contender, Run, alternate
from lab.bench.sides import TICKOVER, Side, Tickover

READ_CLOCK = "getTestClock"
RECONCILE = "reconcileTestClock"
QUESTIONS = ("listTestClockEvents", "getTestClockBalances", "checkTestClock")


def measure_ledger(run: Run) -> None:
    """At one connection: the operations take turns within each round."""
    run.progress.show_step(f"{LEDGER}: growing a clock to {bodies.GROWN_ITEMS:,} items")
    side = run.stack.enter_context(Tickover(run.folder / "ledger"))
    token = side.tokens(1)[0]
    id = grow_clock(side, token)
    loads = {
        method: repeating(side.folder / f"{method}.lua", side.url, token, method, params)
        for method, params in questions(id).items()
    }
    alternate(run, LEDGER, [Contender(TICKOVER, loads, (1,))])


def grow_clock(side: Side, token: str) -> str:
    """Create a clock, and add items until it has as many as a clock may have. Return its ID."""
    clock = result(side.url, "createTestClock", bodies.largest(), token)["clock"]
    goals = [goal["id"] for goal in clock["goals"]]
    for added in bodies.additions(goals):
        result(side.url, "amendTestClock", {"id": clock["id"], "add": added}, token)
    return str(clock["id"])


def questions(id: str) -> Mapping[str, Any]:
    """Return the parameters of each operation."""
    end = {"id": id, "until": bodies.END}
    return {
        READ_CLOCK: {"id": id},
        "listTestClockEvents": {**end, "limit": 500},
        "getTestClockBalances": {"id": id, "at": bodies.END},
        "checkTestClock": {**end, "expectations": bodies.expectations()},
        RECONCILE: {"id": id, "at": bodies.END, "observed": {"transactions": bodies.observed()}},
    }
