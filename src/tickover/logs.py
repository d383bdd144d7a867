"""Logs: readable lines on a terminal, JSON elsewhere. No secret and no address is ever given to them."""

import logging
import sys

import structlog
from structlog.stdlib import BoundLogger
from structlog.typing import Processor


def open_log(level: str) -> BoundLogger:
    """Set logging up for this process, the server's own lines included, and give back our logger."""
    on_terminal = sys.stderr.isatty()
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Processor = structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # The server tells of every start and stop at this level; our banner says it better.
    logging.getLogger("uvicorn.error").setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
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
