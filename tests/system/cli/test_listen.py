"""`tickover listen`: signed webhooks for a real HTTP handler."""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.forked_programs import ForkedProcess, open_dev_null
from tests.support.program import Program, wait_until
from tests.system.shells import Shell
from tests.system.webhook_receivers import Receiver
from tickover.client import Clock, Unreachable

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
START = "2027-01-01T00:00:00Z"
# The first one is posted before the command starts, so it is never delivered.
ITEMS = [
    ("Old", START),
    ("Rent", "2027-01-03T08:00:00Z"),
    ("Gym", "2027-01-03T08:00:00Z"),
    ("Food", "2027-01-05T08:00:00Z"),
]


@pytest.fixture(scope="session")
def token(program: Program) -> str:
    return program.sign_in("listen@example.test")


def names_in(receiver: Receiver) -> list[str]:
    return [json.loads(body)["data"]["event"]["transaction"]["name"] for _, body in receiver.received]


@contextmanager
def listening(
    program: Program, token: str, folder: Path, url: str, *options: str, **environment: str
) -> Iterator[tuple[str, Path]]:
    """Create a clock and follow it. Yield its id and the file with the output."""
    transactions = [{"name": name, "at": at, "amount": 1, "currency": "EUR", "type": "EXPENSE"} for name, at in ITEMS]
    params = {"frozenTime": START, "transactions": transactions}
    id = program.result("createTestClock", params, token)["clock"]["id"]
    output = folder / "listen.txt"
    shell = Shell(folder, program.url)
    command = ["listen", "--forward-to", url, "--clock", id, *options]
    with open_dev_null() as dev_null, output.open("w") as file:
        streams = (dev_null.fileno(), file.fileno(), file.fileno())
        process = ForkedProcess(command, folder, shell.environment(TICKOVER_TOKEN=token, **environment), streams)
    try:
        wait_until(lambda: "Ready." in output.read_text() or process.poll() is not None)
        assert process.poll() is None, output.read_text()
        yield id, output
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def advance(program: Program, token: str, id: str, to: str) -> None:
    program.result("advanceTestClock", {"id": id, "frozenTime": to}, token)


def test_events_arrive_in_order_and_are_signed(
    program: Program, token: str, tmp_path: Path, receiver: Receiver
) -> None:
    with listening(program, token, tmp_path, receiver.url, TICKOVER_WEBHOOK_SECRET=SECRET) as (id, _):
        advance(program, token, id, "2027-01-03T08:00:00Z")
        wait_until(lambda: len(receiver.received) >= 2)
        advance(program, token, id, "2027-02-01T00:00:00Z")
        wait_until(lambda: len(receiver.received) >= 3)
    assert names_in(receiver) == ["Rent", "Gym", "Food"]
    for headers, body in receiver.received:
        verified: Any = Webhook(SECRET).verify(body, headers)
        assert verified["data"]["clockId"] == id
        assert (verified["type"], verified["timestamp"]) == ("transaction.posted", verified["data"]["event"]["at"])
        assert headers["webhook-id"] == verified["data"]["event"]["id"]
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(body + b" ", headers)


def test_faults_and_retries_are_simulated(program: Program, token: str, tmp_path: Path, receiver: Receiver) -> None:
    receiver.statuses = [500, 500]
    options = ("--duplicate", "--reorder", "--fail-first", "--retries", "0", "--json")
    names = ["Food", "Food", "Food", "Food", "Gym", "Gym", "Gym", "Gym", "Rent", "Rent", "Rent", "Rent"]
    with listening(program, token, tmp_path, receiver.url, *options) as (id, output):
        advance(program, token, id, "2027-02-01T00:00:00Z")
        wait_until(lambda: len(receiver.received) == len(names))
        payloads = [line for line in output.read_text().splitlines() if line.startswith("{")]
        assert output.read_text().count("Gave up on") == 1
    assert names_in(receiver) == names
    assert len({headers["webhook-id"] for headers, _ in receiver.received}) == 3
    assert {json.loads(payload)["data"]["clockId"] for payload in payloads} == {id}


def test_unavailable_server_does_not_end_the_command(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = [[], Unreachable("Gone."), KeyboardInterrupt()]

    def next_outcome(*_: Any, **__: Any) -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    shell("clock", "create")
    monkeypatch.setattr(Clock, "deliver", next_outcome)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    result = shell("listen", "--forward-to", "localhost:9")
    assert (result.code, outcomes) == (130, [])
    assert "Gone. Retrying." in result.err


def test_deleted_clock_ends_the_command(program: Program, token: str, tmp_path: Path, receiver: Receiver) -> None:
    with listening(program, token, tmp_path, receiver.url) as (id, output):
        program.result("deleteTestClock", {"id": id}, token)
        wait_until(lambda: "All clocks have been deleted or have expired." in output.read_text())


@pytest.mark.parametrize(
    ("options", "secret", "message"),
    [
        (["--forward-to", "ftp://localhost"], SECRET, "Invalid URL"),
        (["--forward-to", "localhost:9"], "whsec_AAAA", "24 to 64"),
        (["--forward-to", "localhost:9", "--secret-file", "/dev/null"], SECRET, "whsec_"),
        (["--forward-to", "localhost:9", "--secret-file", "/no/such/file"], SECRET, "--secret-file"),
        ([], SECRET, "--forward-to"),
    ],
)
def test_wrong_option_is_explained(offline_shell: Shell, options: list[str], secret: str, message: str) -> None:
    ran = offline_shell("listen", *options, TICKOVER_TOKEN="tko_1", TICKOVER_WEBHOOK_SECRET=secret)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
