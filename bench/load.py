"""Load over HTTP: wrk with one thread, keep-alive, and a script that is as light as can be.

The generator shares the machine with what it measures, so everything that a script can do beforehand is done
beforehand, and every side is asked by the same script. What it does with each answer is to see that it has a result.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from bench.results import Slot

_LONGEST_ANSWER_SECONDS = 60
STEP_SECONDS = 3 * 3600
"""By how much a clock is moved each time: items pass on the way, and it takes ten thousand moves to come to its end."""
_TIMES_BEFORE_TOO_LATE = 9 * 365 * 86_400 // STEP_SECONDS
_END_SECONDS = 60.0
_LONG_SECONDS = 3.0
_LINE = "SLOT "

# `response` hands every answer to Lua, which costs wrk less than one microsecond of its eleven; `"result"` stands near
# the beginning of an answer, so a good one is not read further. Ids of calls all have four digits.
_LUA = """
local find, match = string.find, string.match
local thread_of_main
wrong, wrong_answer, rounds = 0, "", 0

local function head(token, length)
  return "POST /rpc HTTP/1.1\\r\\nHost: " .. HOST .. "\\r\\nContent-Type: application/json\\r\\nAuthorization: Bearer "
    .. token .. "\\r\\nContent-Length: " .. length .. "\\r\\n\\r\\n"
end

function setup(thread) thread_of_main = thread end

function response(status, headers, body)
  if status ~= 200 or not find(body, '"result"', 1, true) then
    wrong = wrong + 1
    wrong_answer = status .. " " .. string.sub(body, 1, 500)
  end
end

function done(summary, latency, requests)
  local of, errors = thread_of_main, summary.errors
  local answer = string.gsub(of:get("wrong_answer"), "[%c\\\\\\"]", function(c)
    return string.format("\\\\u%04x", string.byte(c))
  end)
  io.write(string.format(
    '\\nSLOT {"micros": %d, "requests": %d, "wrong": %d, "broken": %d, "median": %d, "p99": %d, "rounds": %d, ',
    summary.duration, summary.requests, of:get("wrong"),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), of:get("rounds")))
  io.write('"answer": "' .. answer .. '"}\\n')
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

# Servers accept one connection after the other, while they serve those that they have; so the first calls of the last
# connections come much later than they were made. They go to clocks that are not asked again in the same slot, lest
# they ask for a time that is over.
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


class Void(Exception):
    """A slot in which not every answer was a result, twice in a row. The message has such an answer."""


class Load(Protocol):
    """Something that can be measured in slots."""

    troubles: list[str]

    def run(self, connections: int, seconds: float) -> Slot:
        """Have so many connections do their work for so long."""


class Clocks(NamedTuple):
    """Clocks that exist on a server, the place of each one's token among the tokens, and where in time they stand."""

    ids: Sequence[str]
    owners: Sequence[int]
    tokens: Sequence[str]
    instant: int

    @property
    def owning_tokens(self) -> list[str]:
        return [self.tokens[owner] for owner in self.owners]


class Outcome(NamedTuple):
    """What wrk reports of a slot."""

    slot: Slot
    rounds: int
    trouble: str


def read_report(output: str) -> Outcome:
    """From all that wrk has printed; what is wrong with the slot is empty when nothing is."""
    lines = [line for line in output.splitlines() if line.startswith(_LINE)]
    if not lines:
        return Outcome(Slot(0, 0, 0, 0), 0, f"wrk has not reported: {output[-500:]}")
    told = json.loads(lines[-1].removeprefix(_LINE))
    slot = Slot(told["micros"] / 1e6, told["requests"], told["median"], told["p99"])
    if told["wrong"]:
        return Outcome(slot, told["rounds"], f"{told['wrong']} answers without a result, such as {told['answer']}")
    if told["broken"]:
        return Outcome(slot, told["rounds"], f"{told['broken']} requests were broken off")
    return Outcome(slot, told["rounds"], "" if slot.requests else "there was no answer at all")


class _Script:
    """A script of wrk in a file, with what it works on."""

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
        at_end: Callable[[], None] = lambda: None,
    ) -> str:
        """What wrk prints, told to end after so many seconds, or before that once `until` says so."""
        patience = [f"-d{int(seconds) + 600}s", f"--timeout={_LONGEST_ANSWER_SECONDS}s"]
        command = ["wrk", "-t1", f"-c{connections}", *patience, "--latency"]
        command += ["-s", str(self.file), self.url, "--", *map(str, arguments)]
        with subprocess.Popen(  # noqa: S603 - all of it is ours
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as wrk:
            try:
                _wait(wrk, seconds, until)
                at_end()
                # It takes whole seconds only, but an interrupt ends it as the end of its time does.
                wrk.send_signal(signal.SIGINT)
                return wrk.communicate(timeout=_END_SECONDS)[0]
            finally:
                wrk.kill()


def _wait(process: "subprocess.Popen[str]", seconds: float, until: Callable[[], bool] | None) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and (left := deadline - time.monotonic()) > 0:
        if until is not None and until():
            return
        time.sleep(min(left, 0.05) if until else left)


class HttpLoad:
    """One operation, asked of one server again and again."""

    def __init__(self, script: _Script, instant: int = 0) -> None:
        self.watch: Callable[[int], None] = lambda _connections: None
        """Called near the end of each slot, while all connections are still at it."""
        self.troubles: list[str] = []
        """Why slots had to be repeated."""
        self._script = script
        self._done = 0
        self._instant = instant
        self._latest = instant + _TIMES_BEFORE_TOO_LATE * STEP_SECONDS

    def run(self, connections: int, seconds: float) -> Slot:
        outcome = self._once(connections, seconds)
        if outcome.trouble:
            self.troubles.append(f"{connections} connections: {outcome.trouble}")
            time.sleep(1)
            # It may only have been too short for a side that is slow to answer.
            outcome = self._once(connections, seconds if outcome.slot.requests else _LONG_SECONDS)
        if outcome.trouble:
            raise Void(f"{self._script.file.stem}, {connections} connections: {outcome.trouble}")
        # What was cut off at the end is still being worked on.
        time.sleep(min(5.0, 0.01 + 1.2 * connections / outcome.slot.rate))
        return outcome.slot

    def _once(self, connections: int, seconds: float) -> Outcome:
        def just_before_the_end() -> None:
            self.watch(connections)

        # Each slot goes on with the clocks at which the one before has ended.
        where = (self._instant, connections, self._done)
        outcome = read_report(self._script.run(connections, seconds, *where, at_end=just_before_the_end))
        self._done += outcome.slot.requests
        # One more than was reported: a broken slot may not have said how far it came.
        self._instant += (outcome.rounds + 1) * STEP_SECONDS
        assert self._instant < self._latest, "the clocks are near their last time: there are too few of them"
        return outcome


def creating(file: Path, url: str, tokens: Sequence[str], params: Any) -> HttpLoad:
    """createTestClock with these parameters, by one user after the other."""
    return HttpLoad(_creation(file, url, tokens, params, ""))


def advancing(file: Path, url: str, clocks: Clocks) -> HttpLoad:
    """advanceTestClock on one clock after the other, and each time all have had their turn, a step further."""
    values = {"STEP": STEP_SECONDS, "TOKENS": clocks.tokens, "IDS": clocks.ids}
    owners = [owner + 1 for owner in clocks.owners]
    return HttpLoad(_Script(file, url, _ADVANCE, **values, OWNERS=owners), clocks.instant)


def _creation(file: Path, url: str, tokens: Sequence[str], params: Any, more: str) -> _Script:
    rest = json.dumps(params, separators=(",", ":"), ensure_ascii=False)
    before, after = '{"jsonrpc":"2.0","id":', f',"method":"createTestClock","params":{rest}}}'
    return _Script(file, url, _CREATE + more, TOKENS=tokens, BODY_BEFORE=before, BODY_AFTER=after)


class Filler:
    """Creates a given number of clocks at full speed, and keeps the ids of some of them, evenly spread over all."""

    def __init__(self, file: Path, url: str, tokens: Sequence[str], params: Any) -> None:
        self._script = _creation(file, url, tokens, params, _KEEP)
        self._kept = file.with_suffix(".kept")

    def fill(
        self, total: int, every: int = 1, connections: int = 16, tell: Callable[[int], None] = lambda _: None
    ) -> list[tuple[str, int]]:
        """Create so many (and a few more that were on their way); of every so many one id, with its owner's place."""
        self._kept.write_text("")
        before, since = 0, time.monotonic()

        def is_done() -> bool:
            nonlocal before, since
            text = self._kept.read_bytes()
            written = text.count(b"\n") * every
            tell(written)
            if written > before:
                before, since = written, time.monotonic()
            stands_still = time.monotonic() - since > _END_SECONDS
            return written + every > total or b"wrong" in text or stands_still

        trouble = read_report(self._script.run(connections, 3600, self._kept, total, every, until=is_done)).trouble
        kept = [line.split() for line in self._kept.read_text().splitlines()]
        if trouble or len(kept) < total // every:
            raise Void(f"{self._script.file.stem}, creating {total:,} clocks: {trouble or 'some are missing'}")
        return [(id, int(owner) - 1) for id, owner in kept]


def _in_lua(value: object) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0") + '"'
    if isinstance(value, Sequence):
        return "{" + ",".join(map(_in_lua, value)) + "}"
    return str(value)


def need_wrk() -> None:
    """See that wrk is there; root on Debian gets it installed."""
    if shutil.which("wrk"):
        return
    install = ["apt-get", "install", "--yes", "--no-install-recommends", "wrk"]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update"], install):
            subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - all of it is ours
    if not shutil.which("wrk"):
        way = f"sudo {' '.join(install)}" if shutil.which("apt-get") else "brew install wrk"
        raise SystemExit(f"The load comes from wrk, which is not installed. Install it with: {way}")
