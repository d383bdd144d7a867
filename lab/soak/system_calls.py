"""Reads a trace of system calls, and finds responses that were sent before their writes were on the disk."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

_STARTED = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\(\d+<(?P<file>[^>]*)>(?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>.*= (?P<result>-?\d+)")
_WRITES = {"pwrite64", "pwritev", "write", "writev"}
_SYNCS = {"fsync", "fdatasync"}
_SENDS = {"write", "writev", "sendto", "sendmsg"}
CALLS = "pwrite64,pwritev,write,writev,sendto,sendmsg,fsync,fdatasync"


class Verdict(NamedTuple):
    """Responses by what preceded them."""

    durable: int
    too_early: list[int]
    """The numbers of responses that were sent while a write was not yet on the disk."""
    without_write: list[int]


class _Log:
    """The writes to log files and how many of them are on the disk."""

    def __init__(self) -> None:
        self._written: dict[str, int] = {}
        self._synced: dict[str, int] = {}
        self._syncing: dict[str, tuple[str, int]] = {}

    def write(self, file: str) -> None:
        self._written[file] = self._written.get(file, 0) + 1

    def start_sync(self, pid: str, file: str) -> None:
        # Only earlier writes are on the disk after it.
        self._syncing[pid] = file, self._written.get(file, 0)

    def is_syncing(self, pid: str) -> bool:
        return pid in self._syncing

    def end_sync(self, pid: str, result: str) -> None:
        file, written = self._syncing.pop(pid)
        if result == "0":
            self._synced[file] = max(self._synced.get(file, 0), written)

    @property
    def writes(self) -> int:
        return sum(self._written.values())

    @property
    def is_on_disk(self) -> bool:
        return all(self._synced.get(file, 0) >= written for file, written in self._written.items())


def check_responses(lines: Iterable[str], is_log: Callable[[str], bool], background: frozenset[str]) -> Verdict:
    """Check each HTTP response of a trace. One request runs at a time.

    The log files are those for which `is_log` is true. `background` has the IDs of processes that also write them
    for other reasons; their writes count only if no other process wrote.
    """
    foreground, all_writes = _Log(), _Log()
    durable, responses = 0, 0
    too_early: list[int] = []
    without_write: list[int] = []
    before = (0, 0)
    for line in lines:
        for log in (foreground, all_writes):
            _read_file_call(log, line, is_log, background if log is foreground else frozenset())
        if not _is_response(line):
            continue
        responses += 1
        now = (foreground.writes, all_writes.writes)
        log = foreground if now[0] > before[0] else all_writes
        if now[1] == before[1]:
            without_write.append(responses)
        elif log.is_on_disk:
            durable += 1
        else:
            too_early.append(responses)
        before = now
    return Verdict(durable, too_early, without_write)


def _read_file_call(log: _Log, line: str, is_log: Callable[[str], bool], background: frozenset[str]) -> None:
    if started := _STARTED.match(line):
        pid, call, file, rest = started.groups()
        if not is_log(file):
            return
        if call in _WRITES and pid not in background:
            log.write(file)
        elif call in _SYNCS:
            log.start_sync(pid, file)
            if not rest.endswith("<unfinished ...>"):
                log.end_sync(pid, rest.rpartition("= ")[2].split()[0])
    elif (resumed := _RESUMED.match(line)) and resumed["call"] in _SYNCS and log.is_syncing(resumed["pid"]):
        log.end_sync(resumed["pid"], resumed["result"])


def _is_response(line: str) -> bool:
    started = _STARTED.match(line)
    return bool(started and started["call"] in _SENDS and re.match(r'[^"]*"HTTP/1\.1 ', started["rest"]))
