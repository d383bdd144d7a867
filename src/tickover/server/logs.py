"""Logging: readable lines on a terminal, JSON otherwise. Never log secrets or email addresses."""

import logging
import sys
from typing import Final

import structlog
from structlog.stdlib import BoundLogger
from structlog.typing import EventDict, Processor, WrappedLogger

from tickover.api.terminal import escape

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
