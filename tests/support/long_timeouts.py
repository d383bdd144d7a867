"""Runs `tickover` with longer time limits for the database, so that all calls succeed on a busy machine."""

import pytest

from tickover.cli import main
from tickover.server.storage import write_probe
from tickover.server.storage.postgres import batcher, database, rules, session_settings

_SECONDS = 100.0
_LIMITS = (
    (database, "_CONNECT_SECONDS"),
    (database, "_POOL_WAIT_SECONDS"),
    (database, "_COMMAND_SECONDS"),
    (batcher, "_MAX_WAIT_SECONDS"),
    (rules, "MAX_WAIT_SECONDS"),
    (write_probe, "_TIMEOUT_SECONDS"),
)

_SETTINGS = {"statement_timeout": "90s", "lock_timeout": "80s", "idle_in_transaction_session_timeout": "90s"}


def lengthen(patch: pytest.MonkeyPatch) -> None:
    for module, name in _LIMITS:
        assert getattr(module, name) < _SECONDS
        patch.setattr(module, name, _SECONDS)
    for name, value in _SETTINGS.items():
        patch.setitem(session_settings.SETTINGS, name, value)


if __name__ == "__main__":
    lengthen(pytest.MonkeyPatch())
    main()
