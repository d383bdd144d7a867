"""Logs: lines on a terminal and in a file, where text of callers is escaped, and failed calls."""

import json
import os
import pty
import subprocess
import sys
from typing import Any

from tests.support.log_capture import LogCapture
from tickover.server.logs import FailureLog
from tickover.server.storage.store import Cause, DatabaseUnavailable


class _Clock:
    """A failure log with the test's own time."""

    def __init__(self) -> None:
        self._logged = LogCapture()
        self._log = FailureLog(self._logged.log)

    def fail(self, at: float, error: Exception, cause: Cause = "io") -> list[dict[str, Any]]:
        """Return the lines that this failure adds."""
        before = len(self._logged.lines)
        self._log.note("logout", DatabaseUnavailable(cause, error).describe(), 0.25, at, "req_1")
        return [fields for _, _, fields in self._logged.lines[before:]]


def test_line_after_ten_seconds_counts_suppressed_failures() -> None:
    clock = _Clock()
    (first,) = clock.fail(100, OSError("no route"))
    assert (first["suppressed"], first["milliseconds"], first["error"]) == (0, 250, "no route")
    assert [clock.fail(at, OSError("no route")) for at in (100.1, 105, 109.9)] == [[], [], []]
    (next_line,) = clock.fail(110, OSError("no route"))
    assert next_line["suppressed"] == 3
    (after_that,) = clock.fail(200, OSError("no route"))
    assert after_that["suppressed"] == 0


def test_only_the_first_line_of_a_database_error_is_logged() -> None:
    """Further lines of PostgreSQL, such as DETAIL, may contain values."""
    failure = OSError("could not extend file\nDETAIL:  ana@example.test")
    assert _Clock().fail(100, failure)[0]["error"] == "could not extend file"


class _DatabaseError(OSError):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("no space left")
        self.sqlstate = sqlstate


def test_failures_with_another_sqlstate_or_cause_have_a_line_of_their_own() -> None:
    clock = _Clock()
    causes: list[Cause] = ["io", "disk_full"]
    for cause in causes:
        for error in (_DatabaseError("53100"), _DatabaseError("53200"), OSError("no space left")):
            (line,) = clock.fail(100, error, cause)
            assert line.get("sqlstate") == getattr(error, "sqlstate", None)
            assert line["cause"] == cause
            assert clock.fail(101, error, cause) == []


# Lines on a terminal and in a file


HOSTILE = "\x1b[2J\x9b31m\r\n\u202eX\u2028"
SHOWN = r"\x1b[2J\x9b31m\r\n\u202eX\u2028"
PROGRAM = f"""
from tickover.server.logs import open_log
import logging
log = open_log("info")
hostile = {HOSTILE!r}
log.warning("ours " + hostile, address=hostile, several=[hostile])
logging.getLogger("another").warning("foreign %s", hostile)
try:
    raise ValueError("message " + hostile)
except ValueError:
    log.exception("failed")
"""


def test_control_characters_are_escaped_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs) as program:
        os.close(theirs)
        written = b""
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    assert program.returncode == 0
    text = written.decode()
    assert text.count(SHOWN) == 4, text
    assert r"ValueError: message \x1b[2J\x9b31m\r" in text, "a traceback keeps its line breaks, and nothing else"
    for obeyed in ("\x1b[2J", "\x9b", "\u202e", "\u2028"):
        assert obeyed not in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        # Linux raises it when the program has ended.
        return b""


def test_file_gets_one_line_of_ascii_json_per_entry() -> None:
    finished = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    lines = finished.stderr.decode("ascii").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [f"ours {HOSTILE}", f"foreign {HOSTILE}", "failed"]
