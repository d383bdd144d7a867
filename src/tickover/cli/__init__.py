"""The `tickover` command."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its exit code."""
    try:
        # Imported here so that Ctrl-C during the import also exits with 130.
        from tickover.cli.root import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)
