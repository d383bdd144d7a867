"""Traces for OpenTelemetry: a span for each request, store method and email. It needs the extra `tracing`."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from threading import Thread
from typing import Any, Final, cast

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tickover import __version__
from tickover.api.errors import Rejection
from tickover.server.gate import Observe
from tickover.server.http1.http_messages import Handle, Request, Response
from tickover.server.sign_in.mail.mailer import Mailer
from tickover.server.storage.store import Store
from tickover.server.web.handler import HEALTH_CHECKS

_PROPAGATOR: Final = TraceContextTextMapPropagator()
_CLOSE_SECONDS: Final = 3.0


class Tracing:
    """Creates spans. Without a processor, it sends them to the server that the variables OTEL_EXPORTER_OTLP_* name."""

    def __init__(self, processor: SpanProcessor | None = None) -> None:
        resource = Resource.create({"service.name": "tickover", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer = self._provider.get_tracer("tickover", __version__)

    def handle(self, handle: Handle, route: Callable[[str], str]) -> Handle:
        """Return a function that creates a span for each request. `route` returns a path without text of the client."""

        async def traced(request: Request) -> Response:
            carrier = {name: request.fields.get(name.encode(), b"").decode("latin-1") for name in _PROPAGATOR.fields}
            path = route(request.path)
            method, parent = request.method, _PROPAGATOR.extract(carrier)
            attributes = {"http.request.method": method, "url.scheme": "http", "http.route": path, "url.path": path}
            with self.tracer.start_as_current_span(f"{method} {path}", parent, SpanKind.SERVER, attributes) as span:
                response = handle(request)
                status, headers, body = response if isinstance(response, tuple) else await response
                span.set_attribute("http.response.status_code", status)
                if status >= 500:
                    span.set_status(StatusCode.ERROR)
                return status, headers, body

        return lambda request: handle(request) if request.path in HEALTH_CHECKS else traced(request)

    def store(self, store: Store) -> Store:
        return cast("Store", _Traced(store, "store", self.tracer))

    def mailer(self, mailer: Mailer) -> Mailer:
        return cast("Mailer", _Traced(mailer, "mail", self.tracer))

    def observe(self, record: Observe) -> Observe:
        """Return a function that passes calls to `record`, and adds them to the span of the request."""

        def observe(operation: str, rejection: Rejection | None, seconds: float) -> None:
            record(operation, rejection, seconds)
            outcome = rejection.reason if rejection else "OK"
            trace.get_current_span().add_event("call", {"rpc.method": operation, "tickover.outcome": outcome})

        return observe

    def close(self) -> None:
        """Send the last spans. Give up after `_CLOSE_SECONDS`."""
        # A daemon, so that the process can exit while the collector doesn't respond.
        thread = Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        thread.join(_CLOSE_SECONDS)


class _Traced:
    """Creates a span for each call of an asynchronous method of a store or a mailer during a request."""

    def __init__(self, target: Store | Mailer, name: str, tracer: trace.Tracer) -> None:
        self._target = target
        self._name = name
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._target, name)
        if not iscoroutinefunction(method) or name == "close":
            return method

        async def traced(*values: Any, **options: Any) -> Any:
            if not trace.get_current_span().get_span_context().is_valid:
                # Periodic work would send a span each second.
                return await method(*values, **options)
            # Without the messages of exceptions, which can contain email addresses and values of callers.
            with self._tracer.start_as_current_span(
                f"{self._name} {name}", kind=SpanKind.CLIENT, record_exception=False, set_status_on_exception=False
            ) as span:
                try:
                    return await method(*values, **options)
                except BaseException:
                    span.set_status(StatusCode.ERROR)
                    raise

        # The next access finds it without this method.
        setattr(self, name, traced)
        return traced
