"""Runs `tickover` with longer time limits for the database, so that all calls succeed on a busy machine."""

import pytest

from tickover.cli import main
from tickover.server.storage import write_probe
from tickover.server.storage.postgres import batcher, pool, sessions, store

_SECONDS = 100.0
_LIMITS = (
    (pool, "_CONNECT_SECONDS"),
    (pool, "_POOL_WAIT_SECONDS"),
    (pool, "_COMMAND_SECONDS"),
    (batcher, "_MAX_WAIT_SECONDS"),
    (store, "_MAX_WAIT_SECONDS"),
    (write_probe, "_TIMEOUT_SECONDS"),
)

_SETTINGS = {"statement_timeout": "90s", "lock_timeout": "80s", "idle_in_transaction_session_timeout": "90s"}


def lengthen(patch: pytest.MonkeyPatch) -> None:
    for module, name in _LIMITS:
        assert getattr(module, name) < _SECONDS
        patch.setattr(module, name, _SECONDS)
    for name, value in _SETTINGS.items():
        patch.setitem(sessions.SETTINGS, name, value)


if __name__ == "__main__":
    lengthen(pytest.MonkeyPatch())
    main()
