"""The bank calls the webhooks of connections: signed, once for each server, and also after a kill."""

import hashlib
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import jwt
import pytest

from tests.support.npm_packages import tools
from tests.support.program import Program, wait_until
from tests.support.repository import ROOT
from tests.system.webhook_receivers import Receiver, run_receiver
from tickover.client import Tickover
from tickover.pytest_plugin.clock_fixture import BankFactory, ClockFactory

_UPDATES = "SYNC_UPDATES_AVAILABLE"


def day(number: int) -> str:
    return f"2027-01-{number:02}T00:00:00Z"


class App(NamedTuple):
    """A connected app, and its clock with a payment on each of the first days."""

    program: Program
    token: str
    clock: str
    access_token: str
    connection: str

    def advance(self, to: int) -> None:
        self.program.result("advanceTestClock", {"id": self.clock, "frozenTime": day(to)}, self.token)

    def plaid(self, path: str, **members: Any) -> Any:
        return plaid(self.program, path, access_token=self.access_token, **members)

    @property
    def webhook(self) -> Any:
        listed = self.program.result("listTestClockConnections", {"id": self.clock}, self.token)["connections"]
        return next(each["webhook"] for each in listed if each["id"] == self.connection)

    def settle(self) -> None:
        wait_until(lambda: not self.webhook["owed"])


def plaid(program: Program, path: str, **members: Any) -> Any:
    body = json.dumps({"client_id": "any", "secret": "any", **members}).encode()
    return program.request("POST", f"/plaid{path}", body, {"Content-Type": "application/json"}).json


def connect(program: Program, url: str, email: str = "ana@example.test", **options: Any) -> App:
    token = program.sign_in(email)
    payment = {"name": "Rent", "amount": 1, "currency": "EUR", "type": "EXPENSE"}
    payments = [{**payment, "at": day(number)} for number in range(1, 29)]
    clock = program.result("createTestClock", {"frozenTime": day(1), "transactions": payments}, token)["clock"]["id"]
    params = {"id": clock, "protocol": "PLAID", "webhook": url, **options}
    connected = program.result("connectTestClock", params, token)
    exchanged = plaid(program, "/item/public_token/exchange", public_token=connected["publicToken"])
    return App(program, token, clock, exchanged["access_token"], exchanged["item_id"])


class SlowReceiver:
    """Accepts connections, and doesn't respond."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._accepted: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    @property
    def waiting(self) -> int:
        with suppress(BlockingIOError):
            while True:
                self._accepted.append(self._listener.accept()[0])
        return len(self._accepted)

    def __enter__(self) -> "SlowReceiver":
        return self

    def __exit__(self, *_: object) -> None:
        for opened in (self._listener, *self._accepted):
            opened.close()


def codes(receiver: Receiver) -> list[str]:
    return [json.loads(body)["webhook_code"] for _, body in receiver.received]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as opened:
        yield opened


def test_each_change_is_announced_with_a_signature(program: Program, receiver: Receiver) -> None:
    app = connect(program, receiver.url, "webhooks1@example.test")
    wait_until(lambda: receiver.received)
    app.advance(3)
    wait_until(lambda: len(receiver.received) == 2)
    app.settle()
    app.program.result("advanceTestClock", {"id": app.clock, "frozenTime": "2027-01-03T01:00:00Z"}, app.token)
    app.settle()
    assert codes(receiver) == [_UPDATES] * 2, "nothing was new after an hour"
    assert app.webhook["lastStatus"] == 200
    for headers, body in receiver.received:
        assert json.loads(body)["item_id"] == app.connection
        # As Plaid's documentation says.
        token = headers["plaid-verification"]
        header = jwt.get_unverified_header(token)
        assert header["alg"] == "ES256"
        key = plaid(program, "/webhook_verification_key/get", key_id=header["kid"])["key"]
        assert key["expired_at"] is None
        claims = jwt.decode(token, jwt.PyJWK(key).key, algorithms=["ES256"], options={"require": ["iat"]})
        assert claims["request_body_sha256"] == hashlib.sha256(body).hexdigest()
    unknown = plaid(program, "/webhook_verification_key/get", key_id="unknown")
    assert unknown["error_code"] == "INVALID_WEBHOOK_VERIFICATION_KEY_ID"


def test_logins_and_the_end_of_the_consent_are_announced(program: Program, receiver: Receiver) -> None:
    fault = {"kind": "LOGIN_REQUIRED", "from": day(5), "until": day(8)}
    app = connect(program, receiver.url, "webhooks2@example.test", faults=[fault], consentDays=20)
    for to in (5, 6, 8, 15):
        app.settle()
        app.advance(to)
    app.settle()
    # While a login is required, the bank has nothing to sync.
    assert codes(receiver) == [_UPDATES, "ERROR", "LOGIN_REPAIRED", _UPDATES, "PENDING_EXPIRATION", _UPDATES]
    assert json.loads(receiver.received[1][1])["error"]["error_code"] == "ITEM_LOGIN_REQUIRED"
    assert json.loads(receiver.received[4][1])["consent_expiration_time"] == day(21)


def test_program_changes_and_fires_its_webhook(program: Program, receiver: Receiver) -> None:
    app = connect(program, "http://127.0.0.1:9/", "webhooks3@example.test")
    assert app.plaid("/item/get")["item"]["webhook"] == "http://127.0.0.1:9/"
    refused = app.plaid("/item/webhook/update", webhook="http://169.254.169.254/")
    assert refused["error_code"] == "INVALID_FIELD"
    assert app.plaid("/item/webhook/update", webhook=receiver.url)["item"]["webhook"] == receiver.url
    app.settle()
    assert codes(receiver) == [_UPDATES]
    assert app.plaid("/sandbox/item/fire_webhook", webhook_code="DEFAULT_UPDATE")["webhook_fired"]
    wait_until(lambda: codes(receiver) == [_UPDATES, "DEFAULT_UPDATE"])
    for members in ({"webhook_code": "OTHER"}, {"webhook_code": _UPDATES, "webhook_type": "ITEM"}):
        error = app.plaid("/sandbox/item/fire_webhook", **members)
        assert error["error_code"] == "SANDBOX_WEBHOOK_INVALID"
    update = {"id": app.clock, "connectionId": app.connection, "webhook": None}
    assert "webhook" not in program.result("updateTestClockConnection", update, app.token)["connection"]
    error = app.plaid("/sandbox/item/fire_webhook", webhook_code=_UPDATES)
    assert error["error_code"] == "SANDBOX_WEBHOOK_INVALID"
    app.advance(9)
    replaced = program.result("updateTestClockConnection", {**update, "webhook": receiver.url}, app.token)
    assert replaced["connection"]["webhook"]["url"] == receiver.url
    wait_until(lambda: codes(receiver) == [_UPDATES, "DEFAULT_UPDATE", _UPDATES])


def test_failed_call_is_repeated_until_it_is_taken(program: Program, receiver: Receiver) -> None:
    receiver.statuses = [500, 302]
    app = connect(program, receiver.url, "webhooks4@example.test")
    app.settle()
    assert len(receiver.received) == 3, "a redirect is a failure"
    app.settle()
    first, second, third = [body for _, body in receiver.received]
    assert first == second == third


def test_killed_server_owes_what_it_has_not_announced(tmp_path: Path, receiver: Receiver) -> None:
    receiver.statuses = [500] * 50
    with Program(tmp_path) as program:
        app = connect(program, receiver.url)
        wait_until(lambda: receiver.received)
        app.advance(4)
        program.kill()
        receiver.statuses = []
        calls = len(receiver.received)
        program.start()
        wait_until(lambda: len(receiver.received) > calls)
        app.settle()
        assert app.plaid("/transactions/sync")["added"]


def test_one_of_several_servers_calls(tmp_path: Path, postgres_url: str, receiver: Receiver) -> None:
    with Program(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="3") as program:
        app = connect(program, receiver.url)
        app.settle()
        for to in range(2, 12):
            app.advance(to)
            app.settle()
        assert codes(receiver) == [_UPDATES] * 11


def test_app_in_node_verifies_the_calls(program: Program, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(tools())
    (tmp_path / "app.mjs").write_bytes((ROOT / "tests" / "node" / "plaid_webhook.mjs").read_bytes())
    command = ["node", str(tmp_path / "app.mjs"), f"{program.url}/plaid"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as node:
        try:
            assert node.stdout
            port = int(node.stdout.readline())
            app = connect(program, f"http://localhost:{port}/", "webhooks5@example.test")
            assert node.stdout.readline() == f"{_UPDATES}\n"
            app.plaid("/sandbox/item/reset_login")
            assert node.stdout.readline() == "ERROR\n"
        finally:
            node.kill()


def test_pytest_waits_until_nothing_is_owed(program: Program, receiver: Receiver) -> None:
    with Tickover(program.url, program.sign_in("webhooks6@example.test")) as client:
        bank = BankFactory(program.url, ClockFactory(client), client)("salary-and-rent", webhook=receiver.url)
        bank.settle()
        plaid(program, "/item/public_token/exchange", public_token=bank.public_token)
        bank.settle()
        assert codes(receiver) == [], "nothing has happened yet"
        bank.clock.advance(months=1)
        bank.settle()
        assert codes(receiver) == [_UPDATES]
        receiver.statuses = [500] * 100
        bank.clock.advance(months=1)
        with pytest.raises(AssertionError, match=r"/hook\S+ doesn't take a call of the bank: 500[.]"):
            bank.settle(seconds=0.5)


def test_a_user_has_four_calls_at_a_time(program: Program) -> None:
    with SlowReceiver() as slow, run_receiver() as fast:
        app = connect(program, slow.url, "webhooks7@example.test")
        for _ in range(5):
            params = {"id": app.clock, "protocol": "PLAID", "webhook": slow.url}
            token = program.result("connectTestClock", params, app.token)["publicToken"]
            plaid(program, "/item/public_token/exchange", public_token=token)
        wait_until(lambda: slow.waiting == 4)
        other = connect(program, fast.url, "webhooks8@example.test")
        other.settle()
        assert fast.received, "others don't wait"
        fired = app.plaid("/sandbox/item/fire_webhook", webhook_code=_UPDATES)
        assert fired["error_code"] == "RATE_LIMIT"
        assert slow.waiting == 4
