"""Log lines on a terminal and in a file: text of callers is escaped."""

import json
import os
import pty
import subprocess
import sys

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
