"""Load over HTTP: wrk with one thread, keep-alive, and a minimal script.

The generator shares the machine with the servers. So all requests are prepared in advance, and all servers get the same
script. It only checks that each response has a result.
"""

import signal
import subprocess
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.bench import bodies
from lab.bench.harness import Load, Slot
from lab.http_requests import rpc_request

STEP_SECONDS = 3 * 3600
"""The step of each advance. Items become posted on the way, and the max time is ten thousand steps away."""
INSTANT = "0000-00-00T00:00:00Z"
"""Stands for the current instant in a request. What follows it is the same in all requests."""
_END_SECONDS = 15.0
_REPEATED_SECONDS = 3.0
_MAX_ROUNDS = 300
"""More than a slot makes."""

# Servers accept one connection after the other while they serve earlier ones. So the first calls of the last
# connections are served much later than they were made. They go to clocks that are not used again in the same slot,
# because their target time would be in the past.
_LUA = """
local find, heads, last, first, instant, rest, tail, expected = string.find, {}, 0, 1, 0, nil, "", ""
local thread_of_main
wrong, wrong_response, rounds = 0, "", 0

function setup(thread) thread_of_main = thread end

function init(arguments)
  for text in string.gmatch(io.open(arguments[1], "rb"):read("*a"), "[^%z]+") do
    local from, to = find(text, "0000-00-00T00:00:00Z", 1, true)
    heads[#heads + 1] = from and string.sub(text, 1, from - 1) or text
    rest = from and string.sub(text, to + 1)
  end
  expected, instant = arguments[2], tonumber(arguments[3])
  first = math.min(2 * tonumber(arguments[4]), math.floor(#heads / 2)) + 1
  last = #heads
end

function request()
  last = last + 1
  if last > #heads then
    last, rounds, instant = rounds == 0 and 1 or first, rounds + 1, instant + STEP
    if rest then tail = os.date("!%Y-%m-%dT%H:%M:%SZ", instant) .. rest end
  end
  return heads[last] .. tail
end

function response(status, headers, body)
  if status ~= 200 or not find(body, expected, 1, true) then
    wrong = wrong + 1
    wrong_response = status .. " " .. string.sub(body, 1, 500)
  end
end

function done(summary, latency)
  local of, errors = thread_of_main, summary.errors
  io.write(string.format("\\nSLOT %d %d %d %d %d %d %s\\n",
    summary.duration, summary.requests, latency:percentile(50), of:get("rounds"),
    errors.connect + errors.read + errors.write + errors.timeout, of:get("wrong"),
    string.gsub(of:get("wrong_response"), "%c", " ")))
end
"""


class Wrk:
    """Sends requests in turns to one server.

    `expected` is in each good response, near its start. `start` is the time of the clocks that requests advance.
    """

    def __init__(
        self, folder: Path, url: str, requests: Sequence[bytes], expected: str = '"result"', start: str = ""
    ) -> None:
        self._url = url
        self._expected = expected
        self._instant = int(datetime.fromisoformat(start).timestamp()) if start else 0
        name = f"wrk-{time.monotonic_ns()}"
        self._script, self._requests = folder / f"{name}.lua", folder / f"{name}.requests"
        self._script.write_text(_LUA.replace("STEP", str(STEP_SECONDS)))
        self._requests.write_bytes(b"\0".join(requests))

    def on(self, connections: int) -> Load:
        """Return the load of this number of connections."""
        return lambda seconds: self._measure(connections, seconds)

    def _measure(self, connections: int, seconds: float) -> Slot:
        """Repeat a run with an error once, because it may be too short for a slow server."""
        slot, error = self._run(connections, seconds)
        if error:
            time.sleep(1)
            slot, error = self._run(connections, _REPEATED_SECONDS)
        assert not error, f"{connections} connections: {error}"
        # The server may still work on interrupted calls.
        time.sleep(min(5.0, 0.01 + 1.2 * connections / slot.rate))
        return slot

    def _run(self, connections: int, seconds: float) -> tuple[Slot, str]:
        command = ["wrk", "-t1", f"-c{connections}", "-d600s", "--timeout=60s", "--latency", "-s", str(self._script)]
        arguments = map(str, (self._requests, self._expected, self._instant, connections))
        with subprocess.Popen(  # noqa: S603 - constant arguments
            [*command, f"{self._url}/", "--", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        ) as wrk:  # fmt: skip
            try:
                time.sleep(seconds)
                # wrk accepts only whole seconds, but an interrupt ends it in the same way.
                wrk.send_signal(signal.SIGINT)
                output = wrk.communicate(timeout=_END_SECONDS)[0]
            finally:
                wrk.kill()
        found = output.rpartition("\nSLOT ")[2].split(" ", 6)
        if len(found) < 7:
            # On a busy machine, the interrupt may come before wrk handles it.
            self._instant += _MAX_ROUNDS * STEP_SECONDS
            return Slot(0, 0), f"wrk printed no report: {output[-500:]}"
        micros, requests, median, rounds, broken, wrong = map(int, found[:6])
        # One more, because the last round may still be under way.
        self._instant += (rounds + 1) * STEP_SECONDS
        error = "" if requests else "there was no response"
        if wrong:
            error = f"{wrong} responses are wrong, for example {found[6]}"
        elif broken:
            error = f"{broken} requests were interrupted"
        return Slot(requests / micros * 1e6, median / 1e6), error


def advancing(folder: Path, url: str, clocks: Sequence[tuple[str, str]]) -> Wrk:
    """Advance one of these new clocks after the other, one step further in each round."""
    return Wrk(
        folder,
        url,
        [rpc_request("advanceTestClock", {"id": id, "frozenTime": INSTANT}, token) for id, token in clocks],
        start=bodies.START,
    )


def creating(folder: Path, url: str, clocks: Sequence[tuple[str, str]], params: Any) -> Wrk:
    """Create clocks for the owners of these clocks."""
    tokens = dict.fromkeys(token for _, token in clocks)
    return Wrk(folder, url, [rpc_request("createTestClock", params, token) for token in tokens])
