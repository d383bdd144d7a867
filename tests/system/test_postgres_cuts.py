"""A connection to PostgreSQL that is lost just before or after a statement.

The server can't know which, so it returns an error and doesn't repeat the statement. A retry gets the right response.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from lab.soak.write_load import is_unavailable
from tests.support.postgres import PostgresServer
from tests.support.program import SHORT_TIMEOUTS, Program, code_params, link_params, verify_params
from tests.support.proxy import Cut, Proxy
from tests.support.replicas import Replicas

_BOTH_WAYS = pytest.mark.parametrize("how", ["before", "after"])
_NUMBERS = count()


@pytest.fixture(scope="module")
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    with Proxy(postgres.port) as opened:
        yield opened


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer, proxy: Proxy) -> Iterator[Replicas]:
    """Shared by all tests of this module. Each test uses its own address."""
    with Replicas(tmp_path_factory.mktemp("cut"), postgres, 1, proxy.url_of, script=SHORT_TIMEOUTS) as started:
        yield started
        started.stop()


@pytest.fixture
def program(replicas: Replicas) -> Program:
    return replicas.programs[0]


@pytest.fixture
def email() -> str:
    return f"person{next(_NUMBERS)}@example.test"


def _refuse(program: Program, method: str, params: Any, token: str | None = None) -> None:
    """Make a call whose connection is lost, and expect an unknown outcome."""
    response = program.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token)
    assert is_unavailable(response)
    assert "may or may not have been executed" in response.json["error"]["message"]
    assert "released back to the pool" not in program.output, "the log has the cause, not what followed from it"


def _reason(response: Any) -> str:
    return str(response["error"]["data"]["reason"]) if "error" in response else "ok"


@_BOTH_WAYS
def test_clock_is_created_at_most_once(
    replicas: Replicas, program: Program, proxy: Proxy, email: str, how: Cut
) -> None:
    token = program.sign_in(email)
    # From then on, the server creates clocks of this user without reading first. Reads are repeated.
    program.result("createTestClock", {}, token)
    proxy.cut("insert into clocks", how)
    _refuse(program, "createTestClock", {}, token)
    count = 1 + (how == "after")
    assert _rows(replicas, "clocks join users on users.key = owner", email) == count
    schedules = "schedules join clocks on clock_key = clocks.key join users on users.key = owner"
    assert _rows(replicas, schedules, email) == count
    assert "result" in program.call("createTestClock", {}, token)


@_BOTH_WAYS
def test_email_is_sent_at_most_once(replicas: Replicas, program: Program, proxy: Proxy, email: str, how: Cut) -> None:
    proxy.cut("insert into login_emails", how)
    _refuse(program, "sendLoginCodeEmail", code_params(email))
    assert _rows(replicas, "login_emails", email) == (how == "after")
    again = program.call("sendLoginCodeEmail", code_params(email))
    assert _reason(again) == ("RESEND_TOO_SOON" if how == "after" else "ok")
    assert [sent["To"] for sent in program.emails()].count(email) == (how == "before")


@_BOTH_WAYS
def test_attempt_is_counted_at_most_once(
    replicas: Replicas, program: Program, proxy: Proxy, email: str, how: Cut
) -> None:
    params = verify_params(email, program.send_code(email))
    proxy.cut("set attempts = attempts + 1", how)
    _refuse(program, "loginByEmailVerification", params)
    [attempts] = replicas.ask(f"select attempts from login_emails where email = '{email}'")
    assert attempts == ("1" if how == "after" else "0")
    assert _rows(replicas, "login_failures", email) == (how == "after")
    assert "token" in program.result("loginByEmailVerification", params)


@_BOTH_WAYS
@pytest.mark.parametrize("kind", ["code", "link"])
def test_code_or_link_is_used_at_most_once(
    replicas: Replicas, program: Program, proxy: Proxy, email: str, kind: str, how: Cut
) -> None:
    if kind == "code":
        method, params = "loginByEmailVerification", verify_params(email, program.send_code(email))
    else:
        link = program.result("sendLoginCodeEmail", link_params(email))["loginUrl"]
        method, params = "loginByEmailLink", {"token": link.partition("#token=")[2]}
    proxy.cut("set spent = true", how)
    _refuse(program, method, params)
    sessions = "tokens join users on users.key = user_key"
    assert _rows(replicas, sessions, email) == (how == "after")
    assert _reason(program.call(method, params)) == ("LOGIN_REFUSED" if how == "after" else "ok")
    assert _rows(replicas, sessions, email) == 1


@_BOTH_WAYS
def test_reads_are_retried(replicas: Replicas, program: Program, proxy: Proxy, email: str, how: Cut) -> None:
    token = program.sign_in(email)
    cuts = proxy.cuts
    proxy.cut("join tokens on", how)
    assert "result" in program.call("createTestClock", {}, token)
    assert proxy.cuts == cuts + 1
    assert _rows(replicas, "clocks join users on users.key = owner", email) == 1


def _rows(replicas: Replicas, tables: str, email: str) -> int:
    return int(replicas.ask(f"select count(*) from {tables} where email = '{email}'")[0])
