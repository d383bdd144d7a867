"""The `tickover` command."""

import gc
import sys

_INTERRUPTED = 130
_OBJECTS_BETWEEN_COLLECTIONS = 20_000


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Imports create many objects, and nearly all of them are permanent. Python's default of 700 slows the start.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        # Imported here so that Ctrl-C during the import also exits with 130.
        from tickover.cli.root import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    # Everything ends with the process, so there is no garbage to search for at exit.
    gc.freeze()
    sys.exit(code)
