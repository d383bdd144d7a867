"""The command line: `tickover`, for those who use clocks and for those who serve them."""

import sys

_BROKEN_OFF = 130


def main() -> None:
    """Run the command that the process was started with, and end with its exit code."""
    try:
        # Late, so that Ctrl-C is heard from the first moment.
        from tickover.cli.root import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _BROKEN_OFF
    sys.exit(code)
