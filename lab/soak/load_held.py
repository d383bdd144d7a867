"""R1: 200 mixed requests a second for ten minutes, then three times as many requests as the server can handle."""

from collections.abc import Iterator
from itertools import cycle
from statistics import median

from lab.bench.bodies import typical
from lab.http_requests import rpc_request
from lab.open_loop import Measured, OpenLoop, Request, after, percentile, run_async
from lab.processes import resident_mib
from lab.soak.mixed_requests import MixedRequests
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import Program, link_params

RATE = 200
USERS = 100
_CONNECTIONS = 64
_OVERLOAD_CONNECTIONS = 2_000
_OVERLOAD = 3
_MAX_GROWTH_PERCENT = 5
_STEADY_SHARE = 0.85


def run(context: Context) -> Iterator[Figure]:
    with (
        context.database() as settings,
        Program(context.folder, TICKOVER_MAX_CLOCKS_PER_USER="0", **settings) as program,
    ):
        tokens = [_sign_in(program, number) for number in range(USERS)]
        yield from _hold_load(context, program, tokens)
        yield from _overload(context, program, tokens)
        assert "Traceback" not in program.output


def _sign_in(program: Program, number: int) -> str:
    url = program.result("sendLoginCodeEmail", link_params(f"user{number}@example.test"))["loginUrl"]
    token: str = program.result("loginByEmailLink", {"token": url.partition("#token=")[2]})["token"]
    return token


def _hold_load(context: Context, program: Program, tokens: list[str]) -> Iterator[Figure]:
    seconds = context.scale(600, 15)
    mix = MixedRequests(tokens)
    memory: list[float] = []

    def each_second(second: int) -> None:
        memory.append(resident_mib(program.process.pid))
        context.progress(_STEADY_SHARE * second / seconds, f"{RATE} requests/s, second {second} of {seconds}")

    load = OpenLoop(program.url, mix.next_request, _CONNECTIONS)
    measured = run_async(load.run(RATE, seconds, each_second))
    yield at_least("requests", measured.sent, RATE * seconds * 0.99)
    yield at_most("errors", len(mix.errors), 0)
    if mix.errors:
        yield Figure("first error", mix.errors[0])
    for share, limit in ((0.5, None), (0.99, 100), (1.0, None)):
        value = round(1000 * percentile(measured.latencies, share), 1)
        name = f"latency, {'maximum' if share == 1 else f'p{share * 100:.0f}'}"
        yield at_most(name, value, limit, " ms") if limit else Figure(name, f"{value:,g} ms")
    # A short run ends while caches still fill.
    if not context.is_quick:
        yield from _memory_figures(memory)


def _memory_figures(memory: list[float]) -> Iterator[Figure]:
    """Compare the memory of the third minute with that of the last minute."""
    part = len(memory) // 10
    early, late = median(memory[2 * part : 3 * part]), median(memory[-part:])
    yield Figure("memory after minute 2", f"{early:.1f} MiB")
    yield Figure("memory at the end", f"{late:.1f} MiB")
    yield at_most("growth of memory after minute 2", round(100 * (late / early - 1), 1), _MAX_GROWTH_PERCENT, " %")


def _overload(context: Context, program: Program, tokens: list[str]) -> Iterator[Figure]:
    """Alternate between the peak rate and three times that rate, because a machine's speed varies."""
    others: list[str] = []

    def receive(status: int, body: bytes) -> None:
        if status != 200 and not (status == 503 and b'"UNAVAILABLE"' in body):
            others.append(f"{status} {body[:300]!r}")

    requests = cycle([Request(rpc_request("createTestClock", typical(), token), receive) for token in tokens])

    def load(connections: int) -> OpenLoop:
        return OpenLoop(program.url, lambda: next(requests), connections, drop=True)

    peaks: list[float] = []
    overloads: list[Measured] = []
    count = context.scale(5, 2)
    for _ in context.rounds(count, "overload", _STEADY_SHARE):
        peaks.append(run_async(load(_CONNECTIONS).run_at_peak(after(context.scale(4, 2)))).rate(200))
        overload = load(_OVERLOAD_CONNECTIONS)
        overloads.append(run_async(overload.run(_OVERLOAD * peaks[-1], context.scale(6, 3))))
    pairs = list(zip(peaks, overloads, strict=True))
    yield at_least("rounds of overload", len(pairs), count)
    if not pairs:
        return
    yield Figure("peak, 64 connections", f"{median(peaks):,.0f} creates/s")
    offered = median(over.sent / over.seconds / peak for peak, over in pairs)
    yield at_least("offered under overload", round(offered, 2), _OVERLOAD * 0.9, " times the peak")
    kept = median(100 * over.rate(200) / peak for peak, over in pairs)
    yield at_least("results under overload", round(kept, 1), 80, " % of the peak")
    yield at_least("shed with UNAVAILABLE", sum(over.statuses[503] for over in overloads), 1)
    yield at_most("other responses and lost connections", len(others), 0)
    if others:
        yield Figure("first other response", others[0])


ROW = Row(
    "R1",
    "Load held",
    "200 mixed requests/s for 10 minutes without errors, p99 at most 100 ms, no growth of memory after minute 2; "
    "at three times its capacity the server sheds with UNAVAILABLE and keeps at least 80 % of its peak",
    run,
    minutes=11.5,
    quick_minutes=0.6,
)
