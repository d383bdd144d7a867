"""Traces: a failure is visible in its span, without the message of the exception."""

from collections.abc import Coroutine
from datetime import UTC, datetime
from threading import Event
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tickover.api.errors import Rejection
from tickover.server.http1.http_messages import Request, Response
from tickover.server.sign_in.mail.mailer import Email, EmailKind, MailRejected
from tickover.server.storage.store import Store, overloaded
from tickover.server.tracing import Tracing


class BlockedProcessor(SpanProcessor):
    """Its collector doesn't respond before `responds` is set."""

    def __init__(self) -> None:
        self.responds = Event()
        self.has_ended = Event()

    def shutdown(self) -> None:
        self.responds.wait(10)
        self.has_ended.set()


class RejectingMailer:
    is_local = False

    async def deliver(self, email: Email) -> None:
        raise MailRejected(f"550 no mailbox {email.to}")

    async def close(self) -> None:
        pass


async def test_failed_email_is_marked_without_the_message_of_the_mail_server() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(SimpleSpanProcessor(exporter))
    mailer = tracing.mailer(RejectingMailer())
    email = Email("ana@example.test", EmailKind.CODE, "123456", 10, datetime(2027, 1, 1, tzinfo=UTC))
    with tracing.tracer.start_as_current_span("request"), pytest.raises(MailRejected, match=r"ana@example\.test"):
        await mailer.deliver(email)
    span, _ = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert "ana@example.test" not in span.to_json()


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("status", "is_error"), [(200, False), (499, False), (500, True)])
async def test_only_failures_of_the_server_are_errors(status: int, is_error: bool, is_async: bool) -> None:
    async def respond() -> Response:
        return status, [], b"body"

    def handle(request: Request) -> Response | Coroutine[Any, Any, Response]:
        return respond() if is_async else (status, [], b"body")

    exporter = InMemorySpanExporter()
    traced = Tracing(SimpleSpanProcessor(exporter)).handle(handle, lambda path: path)
    response = traced(Request("POST", "/rpc", b"", {}, None))
    assert not isinstance(response, tuple)
    assert await response == (status, [], b"body")
    [span] = exporter.get_finished_spans()
    assert (span.status.status_code is StatusCode.ERROR) is is_error
    assert (span.name, span.kind) == ("POST /rpc", SpanKind.SERVER)
    assert span.attributes == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/rpc",
        "url.path": "/rpc",
        "http.response.status_code": status,
    }


def test_health_checks_have_no_span() -> None:
    exporter = InMemorySpanExporter()
    traced = Tracing(SimpleSpanProcessor(exporter)).handle(lambda _: (200, [], b"alive"), str)
    assert traced(Request("GET", "/healthz")) == (200, [], b"alive")
    assert not exporter.get_finished_spans()


class FailingStore:
    async def find_clock(self, key: str) -> str:
        raise LookupError(key)

    async def ping(self) -> str:
        return "pong"

    def load(self) -> int:
        return 7


async def test_calls_of_the_store_have_spans_and_failures_are_marked() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(SimpleSpanProcessor(exporter))
    store: Any = tracing.store(cast("Store", FailingStore()))
    with tracing.tracer.start_as_current_span("request"):
        assert (await store.ping(), await store.ping(), store.load()) == ("pong", "pong", 7)
        with pytest.raises(LookupError):
            await store.find_clock("secret")
    spans = exporter.get_finished_spans()[:-1]
    assert [span.name for span in spans] == ["store ping", "store ping", "store find_clock"]
    assert [span.status.status_code for span in spans] == [StatusCode.UNSET, StatusCode.UNSET, StatusCode.ERROR]
    assert {span.kind for span in spans} == {SpanKind.CLIENT}
    assert "secret" not in spans[2].to_json()


async def test_periodic_work_has_no_spans() -> None:
    exporter = InMemorySpanExporter()
    store: Any = Tracing(SimpleSpanProcessor(exporter)).store(cast("Store", FailingStore()))
    assert await store.ping() == "pong"
    assert exporter.get_finished_spans() == ()


@pytest.mark.parametrize(
    ("method", "rejection", "name", "outcome"),
    [
        ("logout", None, "logout", "OK"),
        ("logout", overloaded(), "logout", "UNAVAILABLE"),
    ],
)
def test_calls_are_events_of_the_request(method: str, rejection: Rejection | None, name: str, outcome: str) -> None:
    exporter, recorded = InMemorySpanExporter(), list[tuple[str, Rejection | None, float]]()
    tracing = Tracing(SimpleSpanProcessor(exporter))
    observe = tracing.observe(lambda *call: recorded.append(call))
    with tracing.tracer.start_as_current_span("request"):
        observe(method, rejection, 0.5)
    [span] = exporter.get_finished_spans()
    [event] = span.events
    assert (event.name, event.attributes) == ("call", {"rpc.method": name, "tickover.outcome": outcome})
    assert recorded == [(method, rejection, 0.5)]


def test_close_does_not_wait_for_a_collector_that_does_not_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickover.server.tracing._CLOSE_SECONDS", 0.01)
    processor = BlockedProcessor()
    Tracing(processor).close()
    assert not processor.has_ended.is_set()
    processor.responds.set()
    assert processor.has_ended.wait(10)
