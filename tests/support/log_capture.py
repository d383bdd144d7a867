"""A logger that stores its lines for a test."""

import logging
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.stdlib import BoundLogger


class LogCapture:
    """`log` is the logger. `lines` has the level, the event and the other fields of each line."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []
        logger = logging.getLogger("tests.support.log_capture")
        logger.setLevel(logging.INFO)
        self.log: BoundLogger = structlog.wrap_logger(logger, processors=[self._store], wrapper_class=BoundLogger)

    def events(self) -> list[str]:
        return [event for _, event, _ in self.lines]

    def _store(self, _: object, level: str, event: MutableMapping[str, Any]) -> str:
        fields = dict(event)
        self.lines.append((level, fields.pop("event"), fields))
        raise structlog.DropEvent
