"""Logs: readable lines on a terminal, JSON elsewhere. No secret and no address is ever given to them."""

import logging
import sys
from typing import Final

import structlog
from structlog.stdlib import BoundLogger
from structlog.typing import EventDict, Processor, WrappedLogger

from tickover.api.terminal import escape

_WITH_LINES: Final = frozenset({"exception", "stack"})


def _escape_values(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape every text for the terminal: a caller may have written a part of it. JSON escapes by itself."""
    return {
        name: escape(value, keep="\n" if name in _WITH_LINES else "") if isinstance(value, str) else value
        for name, value in event.items()
    }


def open_log(level: str) -> BoundLogger:
    """Set logging up for this process, the server's own lines included, and give back our logger."""
    on_terminal = sys.stderr.isatty()
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Tracebacks are plain: a pretty one would show the values of variables, and some of those are secrets.
    for_people: list[Processor] = [
        structlog.processors.format_exc_info,
        _escape_values,
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
    for_programs: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    render = structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *(for_people if on_terminal else for_programs),
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
    log: BoundLogger = structlog.stdlib.get_logger("tickover")
    return log
