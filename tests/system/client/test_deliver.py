"""`deliver` sends the events of a clock as webhooks."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier

from tests.support.program import Program
from tests.system.webhook_receivers import Receiver
from tickover.client import Answer, AsyncTickover, Clock, Tickover, Unreachable, Webhook, expense

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NAMES = ["Rent", "Gym", "Food", "Phone"]
ITEMS = [expense(name, 1, "EUR", f"2027-01-0{day}T08:00:00Z") for day, name in enumerate(NAMES, 1)]


@pytest.fixture
def clock(client: Tickover) -> Clock:
    return client.create_clock(frozen_time="2027-01-01", transactions=ITEMS)


class Received:
    """Verifies webhooks, and records the names of their transactions."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def take(self, headers: dict[str, str], body: bytes) -> None:
        verified: Any = Verifier(SECRET).verify(body, headers)
        self.names.append(verified["data"]["event"]["transaction"]["name"])

    def function(self, webhook: Webhook) -> str:
        self.take(webhook.headers, webhook.body)
        return f"took {self.names[-1]}"

    async def coroutine(self, webhook: Webhook) -> str:
        await asyncio.sleep(0)
        return self.function(webhook)

    def wsgi(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        headers = {name.removeprefix("HTTP_").replace("_", "-").lower(): str(value) for name, value in environ.items()}
        self.take(headers, environ["wsgi.input"].read())
        start_response("202 Accepted", [("Content-Type", "text/plain")])
        return [environ["PATH_INFO"].encode()]

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0)
        message = await receive()
        self.take({name.decode(): value.decode() for name, value in scope["headers"]}, message["body"])
        await send({"type": "http.response.start", "status": 202, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode()})


@pytest.fixture
def received() -> Received:
    return Received()


def test_url_gets_the_events_since_the_last_delivery(clock: Clock, received: Received, receiver: Receiver) -> None:
    url = receiver.url.removeprefix("http://")
    assert clock.deliver(url, secret=SECRET) == []
    clock.advance(to="2027-01-02T08:00:00Z")
    answers = [delivery.answer for delivery in clock.deliver(url, secret=SECRET)]
    assert answers == [Answer(200, b"/hook?a=1&a=2&b")] * 2
    # An amendment at the clock's own instant.
    clock.spend("Taxi", 5, "EUR")
    clock.advance(days=1)
    assert [delivery.event.type for delivery in clock.deliver(url, secret=SECRET)] == ["transaction.posted"] * 2
    assert clock.deliver(url, secret=SECRET) == []
    for headers, body in receiver.received:
        received.take(headers, body)
    assert received.names == ["Rent", "Gym", "Taxi", "Food"]


@pytest.mark.parametrize("kind", ["function", "coroutine", "wsgi", "asgi"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_handler_in_this_process_answers(
    program: Program, client: Tickover, received: Received, kind: str, is_async: bool
) -> None:
    handler = getattr(received, kind)
    if is_async:
        async with AsyncTickover(program.url, client.token) as tickover:
            clock = await tickover.create_clock(frozen_time="2027-01-01", transactions=ITEMS)
            await clock.advance(days=1)
            deliveries = await clock.deliver(handler, path="/hooks/bank", secret=SECRET)
    else:
        sync_clock = client.create_clock(frozen_time="2027-01-01", transactions=ITEMS)
        sync_clock.advance(days=1)
        # No event loop runs in the threads of synchronous programs.
        deliveries = await asyncio.to_thread(sync_clock.deliver, handler, path="/hooks/bank", secret=SECRET)
    is_http = kind in ("wsgi", "asgi")
    assert [one.answer for one in deliveries] == [Answer(202, b"/hooks/bank") if is_http else "took Rent"]
    assert received.names == ["Rent"]


def test_faults_are_repeatable_and_lose_nothing(client: Tickover) -> None:
    runs = []
    for seed in (1, 1, 2):
        clock, received = client.create_clock(frozen_time="2027-01-01", transactions=ITEMS), Received()
        faults: dict[str, Any] = {"duplicate": 0.5, "reorder": 0.5, "delay": 0.5, "seed": seed}
        for _ in range(4):
            clock.advance(days=1)
            clock.deliver(received.function, secret=SECRET, **faults)
        clock.deliver(received.function, secret=SECRET)
        assert set(received.names) == set(NAMES)
        runs.append(received.names)
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("faults", "expected"),
    [({"duplicate": 1}, [name for name in NAMES for _ in range(2)]), ({"reorder": 1}, NAMES[::-1]), ({"delay": 1}, [])],
)
def test_fault_of_probability_one_is_certain(
    clock: Clock, received: Received, faults: dict[str, Any], expected: list[str]
) -> None:
    clock.advance(days=9)
    clock.deliver(received.function, secret=SECRET, **faults)
    assert received.names == expected


def test_delivery_continues_with_the_event_that_failed(clock: Clock, received: Received) -> None:
    def fail_at_gym(webhook: Webhook) -> None:
        if json.loads(webhook.body)["data"]["event"]["transaction"]["name"] == "Gym":
            raise ZeroDivisionError
        received.function(webhook)

    clock.advance(days=9)
    with pytest.raises(ZeroDivisionError):
        clock.deliver(fail_at_gym, secret=SECRET)
    clock.deliver(received.function, secret=SECRET)
    assert received.names == NAMES


def test_unreachable_handler_and_invalid_arguments_are_errors(clock: Clock, received: Received) -> None:
    clock.advance(days=9)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        clock.deliver("http://127.0.0.1:9/hook", secret=SECRET)
    with pytest.raises(ValueError, match="invalid URL"):
        clock.deliver("ftp://127.0.0.1", secret=SECRET)
    with pytest.raises(ValueError, match="whsec_"):
        clock.deliver(received.function, secret="secret")
    clock.deliver(received.function, secret=SECRET)
    assert received.names == NAMES
