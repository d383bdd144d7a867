"""S10 and S11: the number of clocks, and memory."""

import os

from lab.bench import bodies
from lab.bench.harness import Bench, rates
from lab.bench.wrk import advancing
from lab.processes import resident_mib

_CONNECTIONS = 64
_FEW = 1000
"""The number of clocks that are advanced in turn on both servers."""


def measure_many_clocks(bench: Bench) -> None:
    """Two servers: with a thousand clocks, and with very many."""
    plan, typical = bench.plan, bodies.typical()
    many, few = bench.serve("many"), bench.serve("few")
    spread = bench.fill(many, typical, plan.creates, plan.creates // _FEW)
    what = f"memory, after {plan.creates:,} creates"
    bench.row("S11", what, "MiB", ("<", 70), [resident_mib(many.process.pid)])
    all_of_few = bench.fill(few, typical, _FEW)
    # Wait until the writes of the creations are finished.
    os.sync()
    slots = bench.alternate({
        "few clocks": advancing(bench.folder, few.url, all_of_few).on(_CONNECTIONS),
        "many clocks": advancing(bench.folder, many.url, spread).on(_CONNECTIONS),
    })  # fmt: skip
    what = f"advance with {plan.creates:,} clocks against {_FEW:,} clocks"
    bench.row("S10", what, "ratio", ("≥", 0.9), rates(slots["many clocks"], slots["few clocks"]))
