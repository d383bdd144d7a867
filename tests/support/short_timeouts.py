"""Runs `tickover` with shorter time limits for the database, so that tests of a silent database wait less.

The limits are still long enough for a busy machine. The limits for connecting are not changed: of two hosts, the first
takes half of the wait for a connection if it is silent, and a busy machine needs the other half for the second one.
"""

from tickover.cli import main
from tickover.server.storage.postgres import batcher, database, rules, session_settings

_LIMITS = {
    (database, "_COMMAND_SECONDS"): 2.0,
    (batcher, "_MAX_WAIT_SECONDS"): 1.5,
    (rules, "MAX_WAIT_SECONDS"): 1.5,
}


def shorten() -> None:
    for (module, name), seconds in _LIMITS.items():
        assert getattr(module, name) > seconds
        setattr(module, name, seconds)
    session_settings.SETTINGS.update(statement_timeout="1600ms", lock_timeout="800ms")


if __name__ == "__main__":
    shorten()
    main()
