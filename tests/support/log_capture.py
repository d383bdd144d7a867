"""A logger whose lines a test can read."""

import logging
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.stdlib import BoundLogger


class LogCapture:
    """`log` is the logger; `lines` holds each line as its level, its event and its other fields."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []
        logger = logging.getLogger("tests.support.log_capture")
        logger.setLevel(logging.INFO)
        self.log: BoundLogger = structlog.wrap_logger(logger, processors=[self._keep], wrapper_class=BoundLogger)

    def events(self) -> list[str]:
        return [event for _, event, _ in self.lines]

    def _keep(self, _: object, level: str, event: MutableMapping[str, Any]) -> str:
        fields = dict(event)
        self.lines.append((level, fields.pop("event"), fields))
        raise structlog.DropEvent
