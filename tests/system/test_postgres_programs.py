"""The user that runs PostgreSQL in the tests, on a machine where installing PostgreSQL creates that user."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import postgres_programs

NOBODY = pwd.struct_passwd(("nobody", "x", 65534, 65534, "", "/", "/bin/false"))
POSTGRES = pwd.struct_passwd(("postgres", "x", 105, 110, "", "/", "/bin/sh"))


@pytest.fixture(autouse=True)
def _without_cache() -> Iterator[None]:
    """Other tests have found PostgreSQL already, and need what they found."""
    _clear_cache()
    yield
    _clear_cache()


def _clear_cache() -> None:
    postgres_programs.unprivileged.cache_clear()
    postgres_programs._find_or_install.cache_clear()


def test_user_is_chosen_after_the_package_created_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    users = [NOBODY]

    def install() -> str:
        users.append(POSTGRES)
        return ""

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwall", lambda: users)
    monkeypatch.setattr(postgres_programs, "_find", lambda: tmp_path if POSTGRES in users else None)
    monkeypatch.setattr(postgres_programs, "_install_debian_package", install)
    assert postgres_programs.unprivileged() == {"user": 105, "group": 110, "extra_groups": []}
    assert postgres_programs.program_folder() == tmp_path


def test_user_is_the_same_for_the_whole_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    users = [NOBODY]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwall", lambda: users)
    monkeypatch.setattr(postgres_programs, "_find", lambda: tmp_path)
    first = postgres_programs.unprivileged()
    users.append(POSTGRES)
    assert postgres_programs.unprivileged() == first
