"""The server: creates all parts from the settings, runs and stops them."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

from tickover import __version__
from tickover.api.errors import Rejection
from tickover.api.limits import MAX_BODY, MAX_HEAD
from tickover.server.background import Background, repeating
from tickover.server.bank.bank_names import by_bank_name
from tickover.server.bank.routes import BankRoutes
from tickover.server.gate import Gate, Observe
from tickover.server.http1.http_messages import Handle
from tickover.server.http1.http_server import Endpoint, HttpServer, raise_file_limit
from tickover.server.http1.open_connections import HttpLimits
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.listeners import Listeners, open_listeners, server_url
from tickover.server.logs import Log
from tickover.server.metrics.measured_mailer import MeasuredMailer
from tickover.server.metrics.numbers import Recorder, SharedNumbers
from tickover.server.networks import is_loopback
from tickover.server.operations.call_log import FLUSH_SECONDS
from tickover.server.operations.services import Services
from tickover.server.rpc.dispatch import Dispatcher
from tickover.server.secret_key import load_secret_key
from tickover.server.settings import SettingError, Settings, exposure_reason
from tickover.server.sign_in.mail import open_mailer
from tickover.server.sign_in.mail.mailer import MAIL_TIMEOUT_SECONDS
from tickover.server.sign_in.mail.outbox import Mailbox
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage import open_store, schema_version
from tickover.server.storage.store import Store
from tickover.server.storage.urls import redact_url
from tickover.server.web.handler import HEALTH_CHECKS, Handler, wall_clock
from tickover.server.web.pages import Site
from tickover.server.webhook_sender import WebhookSender

if TYPE_CHECKING:
    from ssl import SSLContext

    from tickover.server.tracing import Tracing

_REQUEST_SECONDS = 30.0
"""For receiving a whole request, head and body."""
_GRACE_SECONDS = 15


class TickoverServer:
    """A Tickover server at `url`."""

    def __init__(
        self,
        settings: Settings,
        listeners: Listeners,
        store: Store,
        mint: Mint,
        log: Log,
        recorder: Recorder,
    ) -> None:
        self.settings = settings
        self.url = server_url(settings.host, listeners.calls)
        self._listeners = listeners
        self._store = store
        self._log = log
        self._stop_requested = asyncio.Event()
        self._drain_ended = asyncio.Event()
        self._recorder = recorder
        mailer = open_mailer(settings.mail_url, settings.mail_from, settings.data_dir / "outbox", log)
        self._tracing = open_tracing(settings)
        if self._tracing is not None:
            store, mailer = self._tracing.store(store), self._tracing.mailer(mailer)
        self._mailer = MeasuredMailer(mailer, recorder)
        if self._mailer.is_local and exposure_reason(settings):
            log.warning("emails go to the outbox, so anyone who can reach this server can sign in as any user")
        if not settings.public_url and not is_loopback(settings.host):
            log.warning("TICKOVER_PUBLIC_URL is not set, so login links point to this machine", url=self.url)
        if settings.test_codes:
            log.warning("anyone can sign in with a fixed code in these domains", domains=list(settings.test_codes))
        with_address = settings.with_address(self.url)
        describe = partial(describe_api, with_address.public_url)
        self._background = Background(self._store, mint.key_fingerprint(), wall_clock, log, on_swept=self._on_swept)
        self._isolated_process = IsolatedProcess()
        services = Services(store, self._mailer, mint, with_address, self._isolated_process, describe)
        self._call_log = services.call_log
        observe: Observe = recorder.record_call
        if self._tracing is not None:
            observe = self._tracing.observe(observe)
        count_refusal = partial(recorder.add, "requests_rejected_total")
        self._gate = Gate(log, settings.max_in_flight, observe, self._background.count_rejection, count_refusal)
        rpc = Dispatcher(services, self._gate)
        mailbox = Mailbox(settings.data_dir / "outbox") if self._mailer.is_local else None
        site = Site(describe, mailbox, resend_seconds=settings.resend_seconds)
        bank = BankRoutes(services, self._gate)
        self._webhooks = WebhookSender(bank.bank, self._gate, wall_clock, log)
        services.clock_changed = self._webhooks.clock_changed
        services.webhook_changed = self._webhooks.webhook_changed
        self._handler = Handler(settings, self._gate, rpc, bank, site, self._background.ping, log=log)
        endpoints = [Endpoint(listeners.calls, self._traced(self._handler.handle), self._handler.reject)]
        if listeners.bank is not None:
            handle = by_bank_name(self._traced(self._handler.handle_bank))
            endpoints.append(
                Endpoint(listeners.bank, handle, self._handler.reject_bank, open_certificate(settings, log))
            )
        self._server = HttpServer(endpoints, _http_limits(settings, log))

    @classmethod
    async def open(cls, settings: Settings, log: Log, recorder: Recorder | None = None) -> "TickoverServer":
        """Open the ports, the database and the mailer. Raise SettingError if one is unavailable."""
        async with AsyncExitStack() as undo:
            listeners = open_listeners(settings, shared=settings.workers > 1)
            undo.callback(listeners.close)
            store, mint = await open_database(settings, log)
            undo.push_async_callback(store.close)
            server = cls(settings, listeners, store, mint, log, recorder or SharedNumbers().recorder())
            undo.pop_all()
        return server

    async def run(self, when_ready: Callable[[], None]) -> None:
        """Serve until `stop` is called or the task is cancelled, then finish accepted requests."""
        if self._stop_requested.is_set():
            return
        metrics = self._serve_metrics()
        # The objects so far are permanent, so the garbage collector can ignore them.
        gc.freeze()
        store_calls = partial(self._call_log.flush, wall_clock)
        storing_calls = repeating(FLUSH_SECONDS, "storing the calls of apps", store_calls, self._log)
        async with self._background.running(), self._webhooks.running(), metrics, storing_calls:
            try:
                self._server.start()
                self._log_start()
                when_ready()
                await self._stop_requested.wait()
                await self._drain()
            finally:
                await self._stop_serving()
                with suppress(Rejection):
                    await store_calls()

    def _traced(self, handle: Handle) -> Handle:
        return handle if self._tracing is None else self._tracing.handle(handle, self._handler.route)

    def _serve_metrics(self) -> AbstractAsyncContextManager[None]:
        if self._listeners.metrics is None:
            return nullcontext()
        from tickover.server.metrics.metrics_server import DatabaseFacts, serve_metrics

        url, data_dir = self.settings.database_url, self.settings.data_dir
        facts = DatabaseFacts(url, data_dir, self._background.ping, wall_clock)
        return serve_metrics(self._listeners.metrics, self._recorder.shared, self._publish_gauges, facts, self._log)

    async def _drain(self) -> None:
        """Serve for `drain_seconds` more. `/readyz` returns 503, so load balancers choose other servers."""
        self._handler.is_draining = True
        if self.settings.drain_seconds and not self._drain_ended.is_set():
            self._log.info("draining", seconds=self.settings.drain_seconds)
            self._server.drain()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.settings.drain_seconds):
                    await self._drain_ended.wait()
        self._drain_ended.set()

    async def _stop_serving(self) -> None:
        self._log.info("stopping")
        # A call that waits for the mail server must also finish within the grace period.
        self._gate.stop(_GRACE_SECONDS - MAIL_TIMEOUT_SECONDS - 1)
        unfinished = await self._server.stop(_GRACE_SECONDS)
        if unfinished:
            self._log.error("calls were cancelled because they took too long", calls=unfinished)

    def _on_swept(self, rows: int) -> None:
        self._recorder.add("swept_rows_total", amount=rows)
        self._recorder.set("sweep_last_success_timestamp_seconds", value=wall_clock().timestamp())

    async def _publish_gauges(self) -> None:
        load = self._store.load()
        self._recorder.set("calls_in_flight", value=self._gate.in_flight)
        self._recorder.set("http_connections", value=self._server.connection_count)
        self._recorder.set("database_calls_waiting", value=load.waiting_calls)
        self._recorder.set("database_connections", "open", value=load.open_connections)
        self._recorder.set("database_connections", "busy", value=load.busy_connections)

    def _log_start(self) -> None:
        url, metrics = self.settings.database_url, self._listeners.metrics
        more = {"metrics": f"{server_url(self.settings.metrics_host, metrics)}/metrics"} if metrics else {}
        if self.settings.bank_https is not None:
            more["bank_https"] = ":".join(map(str, self.settings.bank_https))
        self._log.info(
            "started",
            version=__version__,
            address=self.url,
            database=redact_url(url),
            schema_version=schema_version(url),
            **more,
        )

    def stop(self, *, at_once: bool = False) -> None:
        """Make `run` drain, finish accepted requests and return. A call before `run` prevents it from serving.

        `at_once` skips the drain. A second call with `at_once` also skips the wait for requests.
        """
        if at_once:
            if self._stop_requested.is_set() and self._drain_ended.is_set():
                self._server.end_wait()
            self._drain_ended.set()
        self._stop_requested.set()

    async def close(self) -> None:
        await self._isolated_process.close()
        await self._store.close()
        self._listeners.close()
        if self._tracing is not None:
            await asyncio.to_thread(self._tracing.close)
        self._log.info("stopped")


async def open_database(settings: Settings, log: Log) -> tuple[Store, Mint]:
    """Open the database and load the secret key. Raise SettingError if one is unusable, or if they don't match."""
    async with AsyncExitStack() as undo:
        store = await open_store(settings.database_url, settings.database_connections, for_server=True)
        undo.push_async_callback(store.close)
        mint = Mint(load_secret_key(settings, log))
        if not await store.share_key(mint.key_fingerprint(), wall_clock()):
            raise SettingError(
                "Another server uses this database with another secret key, so each would reject the codes of the "
                "other. Set TICKOVER_SECRET_KEY to the same value for all. If the other server has stopped, "
                "wait for five minutes."
            )
        undo.pop_all()
    return store, mint


def open_certificate(settings: Settings, log: Log) -> "SSLContext | None":
    """Return the certificate of the bank's own names, if they are on. Its package takes long to import."""
    if settings.bank_https is None:
        return None
    from tickover.server.bank_certificate import load_certificate

    return load_certificate(settings, log)


def describe_api(public_url: str) -> bytes:
    """Return the OpenRPC document, which is generated at its first use."""
    from tickover.server.rpc.openrpc import describe

    return describe(public_url)


def open_tracing(settings: Settings) -> "Tracing | None":
    """Return an object that creates spans, or None if tracing is off. Its packages take long to import."""
    if not settings.tracing:
        return None
    try:
        from tickover.server.tracing import Tracing
    except ModuleNotFoundError as error:
        raise SettingError(
            f"TICKOVER_TRACING needs the package {error.name}. Install it from a checkout: pip install 'PATH[tracing]'"
        ) from None
    return Tracing()


def _http_limits(settings: Settings, log: Log) -> HttpLimits:
    connections = raise_file_limit(settings.max_connections)
    if connections < settings.max_connections:
        log.warning("the limit on open files allows fewer connections than TICKOVER_MAX_CONNECTIONS", limit=connections)
    return HttpLimits(
        head_bytes=MAX_HEAD,
        body_bytes=MAX_BODY,
        deadline_seconds=_REQUEST_SECONDS,
        health_checks=HEALTH_CHECKS,
        connections=connections,
        keep_alive_seconds=settings.keep_alive_seconds,
    )
