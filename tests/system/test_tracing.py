"""Traces of a whole server, as a real collector receives them by OTLP."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.log_capture import LogCapture
from tests.support.program import code_params
from tests.system.webhook_receivers import Receiver
from tickover.server.app import TickoverServer
from tickover.server.settings import read_settings

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
EMAIL = "traced@example.test"


def spans_in(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def send(url: str, path: str, body: bytes | None = None) -> None:
    headers = {"Content-Type": "application/json", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    try:
        urlopen(Request(f"{url}{path}", body, headers), timeout=60).close()
    except HTTPError as error:
        error.close()


async def test_collector_gets_spans_of_requests_database_and_mail(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.partition("/hook")[0])
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    server = await TickoverServer.open(
        read_settings({}, {"data_dir": str(tmp_path), "port": "0", "tracing": "on"}), LogCapture().log
    )
    ready = asyncio.Event()
    task = asyncio.create_task(server.run(ready.set))
    await ready.wait()
    call = {"jsonrpc": "2.0", "id": 1, "method": "sendLoginCodeEmail", "params": code_params(EMAIL)}
    await asyncio.to_thread(send, server.url, "/rpc", json.dumps(call).encode())
    await asyncio.to_thread(send, server.url, f"/{EMAIL}")
    await asyncio.to_thread(send, server.url, "/readyz")
    server.stop(at_once=True)
    await task
    await server.close()
    bodies = [body for _, body in receiver.received]
    spans = {span.name: span for body in bodies for span in spans_in(body)}
    assert spans.keys() == {"POST /rpc", "store record_email", "mail deliver", "GET unknown"}
    request = spans["POST /rpc"]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    for name in ("store record_email", "mail deliver"):
        assert (spans[name].trace_id, spans[name].parent_span_id) == (request.trace_id, request.span_id)
    assert {(item.key, item.value.string_value) for item in request.events[0].attributes} == {
        ("rpc.method", "sendLoginCodeEmail"),
        ("tickover.outcome", "OK"),
    }
    assert EMAIL.encode() not in b"".join(bodies)
