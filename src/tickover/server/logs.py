"""Logging: readable lines on a terminal, JSON otherwise. Never log secrets or email addresses."""

import logging
import sys
from typing import Final

import structlog
from structlog.stdlib import BoundLogger
from structlog.typing import EventDict, Processor, WrappedLogger

from tickover.api.errors import Reason, Rejection, truncate
from tickover.api.terminal import escape

_QUIET_SECONDS: Final = 10.0
_MULTILINE_FIELDS: Final = frozenset({"exception", "stack"})


def _escape_values(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape texts for the terminal, because callers may control parts of them. JSON needs no escaping."""
    return {
        name: escape(value, keep="\n" if name in _MULTILINE_FIELDS else "") if isinstance(value, str) else value
        for name, value in event.items()
    }


def open_log(level: str, format: str = "auto") -> BoundLogger:
    """Configure logging for this process, and return the logger."""
    is_text = format == "text" or (format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Plain tracebacks, because rich ones print variables, which may be secrets.
    for_terminal: list[Processor] = [
        structlog.processors.format_exc_info,
        _escape_values,
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
    for_json: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    render = structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *(for_terminal if is_text else for_json),
        ],
        foreign_pre_chain=shared,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(render)
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=BoundLogger,
        cache_logger_on_first_use=True,
    )
    # Without `bind`, it would be a proxy that creates a logger for every access.
    log: BoundLogger = structlog.stdlib.get_logger("tickover").bind()
    return log


class FailureLog:
    """Logs calls that fail because of the database, at most one per kind in ten seconds.

    It logs the cause, which responses don't contain.
    """

    def __init__(self, log: BoundLogger) -> None:
        self._log = log
        self._quiet_until: dict[tuple[object, ...], float] = {}
        self._suppressed: dict[tuple[object, ...], int] = {}

    def note(self, operation: str, rejection: Rejection, began: float, ended: float, request_id: str) -> None:
        """Log a failure, or count it for the next line of its kind. `began` and `ended` are in seconds."""
        described = describe_cause(rejection)
        kind = (operation, described.get("cause"), described.get("sqlstate"))
        if ended < self._quiet_until.get(kind, ended):
            self._suppressed[kind] = self._suppressed.get(kind, 0) + 1
            return
        self._quiet_until[kind] = ended + _QUIET_SECONDS
        self._log.warning(
            "a call failed",
            method=operation,
            outcome=rejection.reason,
            **described,
            milliseconds=round((ended - began) * 1000),
            suppressed=self._suppressed.pop(kind, 0),
            request_id=request_id,
        )


def describe_cause(rejection: Rejection) -> dict[str, str]:
    """Return the fields of a failure for the log: the type of the cause, and the database's message.

    Every UNAVAILABLE with a cause comes from the database. The first line of its message has no values of callers.
    Messages of mail servers may contain email addresses, so they are omitted.
    """
    cause = rejection.__cause__
    if cause is None:
        return {}
    described = {"cause": type(cause).__name__}
    if sqlstate := getattr(cause, "sqlstate", None):
        described["sqlstate"] = sqlstate
    if rejection.reason is Reason.UNAVAILABLE and (message := str(cause).strip().partition("\n")[0]):
        described["error"] = truncate(message)
    return described
