"""Traces: a failure is visible in its span, without the message of the exception."""

from datetime import UTC, datetime
from threading import Event

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tickover.server.mail.mailer import Email, EmailKind, MailRejected
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
    mailer = Tracing(SimpleSpanProcessor(exporter)).mailer(RejectingMailer())
    email = Email("ana@example.test", EmailKind.CODE, "123456", 10, datetime(2027, 1, 1, tzinfo=UTC))
    with pytest.raises(MailRejected, match=r"ana@example\.test"):
        await mailer.deliver(email)
    [span] = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert "ana@example.test" not in span.to_json()


def test_close_does_not_wait_for_a_collector_that_does_not_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickover.server.tracing._CLOSE_SECONDS", 0.01)
    processor = BlockedProcessor()
    Tracing(processor).close()
    assert not processor.has_ended.is_set()
    processor.responds.set()
    assert processor.has_ended.wait(10)
