"""Load over HTTP: wrk with one thread, keep-alive, and a minimal script.

The generator shares the machine with the servers. So scripts prepare everything in advance, and all servers get the
same script. It only checks that each response has a result.
"""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from lab.bench.results import Slot

_MAX_RESPONSE_SECONDS = 60
STEP_SECONDS = 3 * 3600
"""The step of each advance. Items become posted on the way, and the max time is ten thousand steps away."""
_TIMES_BEFORE_TOO_LATE = 9 * 365 * 86_400 // STEP_SECONDS
_END_SECONDS = 15.0
_LONG_SECONDS = 10.0
_MAX_ROUNDS = 300
"""More than a slot makes. Without a report of wrk, the next slot must not set a clock back."""
_LINE = "SLOT "

# `response` passes every response to Lua, which costs wrk less than one of its eleven microseconds. `"result"` is near
# the start, so a good response is not read further. IDs of calls have four digits.
_LUA = """
local find, match = string.find, string.match
local thread_of_main
wrong, wrong_response, rounds = 0, "", 0

local function head(token, length)
  return "POST /rpc HTTP/1.1\\r\\nHost: " .. HOST .. "\\r\\nContent-Type: application/json\\r\\nAuthorization: Bearer "
    .. token .. "\\r\\nContent-Length: " .. length .. "\\r\\n\\r\\n"
end

function setup(thread) thread_of_main = thread end

function response(status, headers, body)
  if status ~= 200 or not find(body, '"result"', 1, true) then
    wrong = wrong + 1
    wrong_response = status .. " " .. string.sub(body, 1, 500)
  end
end

function done(summary, latency, requests)
  local of, errors = thread_of_main, summary.errors
  local response = string.gsub(of:get("wrong_response"), "[%c\\\\\\"]", function(c)
    return string.format("\\\\u%04x", string.byte(c))
  end)
  io.write(string.format(
    '\\nSLOT {"micros": %d, "requests": %d, "wrong": %d, "broken": %d, "median": %d, "rounds": %d, ',
    summary.duration, summary.requests, of:get("wrong"),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), of:get("rounds")))
  io.write('"response": "' .. response .. '"}\\n')
end
"""

_CREATE = """
local requests, last = {}, 0
for number, token in ipairs(TOKENS) do
  local body = BODY_BEFORE .. (999 + number) .. BODY_AFTER
  requests[number] = head(token, #body) .. body
end

function request()
  last = last + 1
  if last > #TOKENS then last = 1 end
  return requests[last]
end
"""

_REPEAT = """
local call = head(TOKEN, #BODY) .. BODY

function request() return call end
"""

_KEEP = """
local keep, seen, total, every

function init(arguments)
  keep, total, every = io.open(arguments[1], "w"), tonumber(arguments[2]), tonumber(arguments[3])
end

local see = response
function response(status, headers, body)
  see(status, headers, body)
  seen = (seen or 0) + 1
  if seen <= total and seen % every == 0 then
    keep:write(match(body, '"id":"(clock_[^"]+)"') or "none", " ", (match(body, '"id":(%d+)') or 0) - 999, "\\n")
    keep:flush()
  end
  if wrong == 1 then
    keep:write("wrong\\n")
    keep:flush()
  end
  if seen >= total or wrong > 0 then wrk.thread:stop() end
end
"""

# Servers accept one connection after the other while they serve earlier ones. So the first calls of the last
# connections are served much later than they were made. They go to clocks that are not used again in the same slot,
# because their target time would be in the past.
_ADVANCE = """
local heads, last, first, instant, tail = {}, 0, 1, 0, ""
local before = '{"jsonrpc":"2.0","id":1000,"method":"advanceTestClock","params":{"id":"'
local between, after = '","frozenTime":"', '"}}'

local function move()
  last, rounds, instant = rounds == 0 and 1 or first, rounds + 1, instant + STEP
  tail = os.date("!%Y-%m-%dT%H:%M:%SZ", instant) .. after
end

function init(arguments)
  instant, first = tonumber(arguments[1]), math.min(2 * tonumber(arguments[2]), math.floor(#IDS / 2)) + 1
  for number = 1, #IDS do
    local place = (number + arguments[3]) % #IDS + 1
    local beginning = before .. IDS[place] .. between
    heads[number] = head(TOKENS[OWNERS[place]], #beginning + 20 + #after) .. beginning
  end
  last = #IDS
end

function request()
  last = last + 1
  if last > #IDS then move() end
  return heads[last] .. tail
end
"""


class InvalidSlot(Exception):
    """Twice in a row, not every response of a slot was a result. The message contains such a response."""


class Load(Protocol):
    """A load that is measured in slots."""

    retries: list[str]

    def run(self, connections: int, seconds: float) -> Slot:
        """Run this many connections for this long."""


class Clocks(NamedTuple):
    """Existing clocks of a server, the index of each one's token, and the current step of all."""

    ids: Sequence[str]
    owners: Sequence[int]
    tokens: Sequence[str]
    instant: int

    @property
    def owning_tokens(self) -> list[str]:
        return [self.tokens[owner] for owner in self.owners]


class Outcome(NamedTuple):
    """The report of wrk for a slot."""

    slot: Slot
    rounds: int
    error: str


def read_report(output: str) -> Outcome:
    """Parse the output of wrk. The error is empty if the slot is valid."""
    lines = [line for line in output.splitlines() if line.startswith(_LINE)]
    if not lines:
        return Outcome(Slot(0, 0, 0), _MAX_ROUNDS, f"wrk printed no report: {output[-500:]}")
    report = json.loads(lines[-1].removeprefix(_LINE))
    slot = Slot(report["micros"] / 1e6, report["requests"], report["median"])
    if report["wrong"]:
        error = f"{report['wrong']} responses have no result, for example {report['response']}"
        return Outcome(slot, report["rounds"], error)
    if report["broken"]:
        return Outcome(slot, report["rounds"], f"{report['broken']} requests were interrupted")
    return Outcome(slot, report["rounds"], "" if slot.requests else "there was no response")


class _Script:
    """A script of wrk in a file, with its data."""

    def __init__(self, file: Path, url: str, body: str, **values: object) -> None:
        self.url = f"{url}/rpc"
        self.file = file
        known = {"HOST": urlsplit(url).netloc, **values}
        constants = "".join(f"local {name} = {_in_lua(value)}\n" for name, value in known.items())
        file.write_text(constants + _LUA + body, "utf-8")

    def run(
        self,
        connections: int,
        seconds: float,
        *arguments: object,
        until: Callable[[], bool] | None = None,
    ) -> str:
        """Run wrk for this many seconds, or until `until` returns True. Return its output."""
        patience = [f"-d{int(seconds) + 600}s", f"--timeout={_MAX_RESPONSE_SECONDS}s"]
        command = ["wrk", "-t1", f"-c{connections}", *patience, "--latency"]
        command += ["-s", str(self.file), self.url, "--", *map(str, arguments)]
        with subprocess.Popen(  # noqa: S603 - constant arguments
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as wrk:
            try:
                _wait(wrk, seconds, until)
                # wrk accepts only whole seconds, but an interrupt ends it in the same way.
                wrk.send_signal(signal.SIGINT)
                return wrk.communicate(timeout=_END_SECONDS)[0]
            except subprocess.TimeoutExpired:
                return "it didn't end after an interrupt"
            finally:
                wrk.kill()


def _wait(process: "subprocess.Popen[str]", seconds: float, until: Callable[[], bool] | None) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and (left := deadline - time.monotonic()) > 0:
        if until is not None and until():
            return
        time.sleep(min(left, 0.05) if until else left)


class HttpLoad:
    """One operation, called repeatedly on one server."""

    def __init__(self, script: _Script, instant: int = 0) -> None:
        self.retries: list[str] = []
        """The reasons of repeated slots."""
        self._script = script
        self._done = 0
        self._instant = instant
        self._latest = instant + _TIMES_BEFORE_TOO_LATE * STEP_SECONDS

    def run(self, connections: int, seconds: float) -> Slot:
        outcome = self._once(connections, seconds)
        if outcome.error:
            self.retries.append(f"{connections} connections: {outcome.error}")
            time.sleep(1)
            # The slot may have been too short for a slow server.
            outcome = self._once(connections, seconds if outcome.slot.requests else _LONG_SECONDS)
        if outcome.error:
            raise InvalidSlot(f"{self._script.file.stem}, {connections} connections: {outcome.error}")
        # The server may still work on interrupted calls.
        time.sleep(min(5.0, 0.01 + 1.2 * connections / outcome.slot.rate))
        return outcome.slot

    def _once(self, connections: int, seconds: float) -> Outcome:
        # Each slot continues with the clocks after the last one of the previous slot.
        where = (self._instant, connections, self._done)
        outcome = read_report(self._script.run(connections, seconds, *where))
        self._done += outcome.slot.requests
        # One more than reported, because an invalid slot may not report its progress.
        self._instant += (outcome.rounds + 1) * STEP_SECONDS
        assert self._instant < self._latest, "the clocks are near their max time: use more clocks"
        return outcome


def creating(file: Path, url: str, tokens: Sequence[str], params: Any) -> HttpLoad:
    """createTestClock with these parameters, by one user after the other."""
    return HttpLoad(_creation(file, url, tokens, params, ""))


def advancing(file: Path, url: str, clocks: Clocks) -> HttpLoad:
    """advanceTestClock on one clock after the other, one step further in each round."""
    values = {"STEP": STEP_SECONDS, "TOKENS": clocks.tokens, "IDS": clocks.ids}
    owners = [owner + 1 for owner in clocks.owners]
    return HttpLoad(_Script(file, url, _ADVANCE, **values, OWNERS=owners), clocks.instant)


def repeating(file: Path, url: str, token: str, method: str, params: Any) -> HttpLoad:
    """The same call again and again, for an operation that changes nothing."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1000, "method": method, "params": params}, separators=(",", ":"))
    return HttpLoad(_Script(file, url, _REPEAT, TOKEN=token, BODY=body))


def _creation(file: Path, url: str, tokens: Sequence[str], params: Any, more: str) -> _Script:
    rest = json.dumps(params, separators=(",", ":"), ensure_ascii=False)
    before, after = '{"jsonrpc":"2.0","id":', f',"method":"createTestClock","params":{rest}}}'
    return _Script(file, url, _CREATE + more, TOKENS=tokens, BODY_BEFORE=before, BODY_AFTER=after)


class Filler:
    """Creates a number of clocks at full speed, and records the IDs of some, evenly spread."""

    def __init__(self, file: Path, url: str, tokens: Sequence[str], params: Any) -> None:
        self._script = _creation(file, url, tokens, params, _KEEP)
        self._created = file.with_suffix(".created")

    def fill(
        self, total: int, every: int = 1, connections: int = 16, report: Callable[[int], None] = lambda _: None
    ) -> list[tuple[str, int]]:
        """Create at least this many clocks. Return every nth ID with the index of its owner."""
        self._created.write_text("")
        before, since = 0, time.monotonic()

        def is_done() -> bool:
            nonlocal before, since
            text = self._created.read_bytes()
            written = text.count(b"\n") * every
            report(written)
            if written > before:
                before, since = written, time.monotonic()
            stands_still = time.monotonic() - since > _MAX_RESPONSE_SECONDS
            return written + every > total or b"wrong" in text or stands_still

        error = read_report(self._script.run(connections, 3600, self._created, total, every, until=is_done)).error
        created = [line.split() for line in self._created.read_text().splitlines()]
        if error or len(created) < total // every:
            raise InvalidSlot(f"{self._script.file.stem}, creating {total:,} clocks: {error or 'some are missing'}")
        return [(id, int(owner) - 1) for id, owner in created]


def _in_lua(value: object) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0") + '"'
    if isinstance(value, Sequence):
        return "{" + ",".join(map(_in_lua, value)) + "}"
    return str(value)
