"""A log that stores its entries for a test."""

import logging
from typing import Any

from tickover.server.logs import Log


class LogCapture(logging.Handler):
    """`log` is the log. `lines` has the level, the event and the fields of each entry."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str, dict[str, Any]]] = []
        logger = logging.Logger("captured", logging.INFO)  # noqa: LOG001 - each capture has its own
        logger.addHandler(self)
        self.log = Log(logger)

    def events(self) -> list[str]:
        return [event for _, event, _ in self.lines]

    def emit(self, record: logging.LogRecord) -> None:
        assert not isinstance(record.msg, str)
        event, fields = record.msg
        self.lines.append((record.levelname.lower(), event, fields))
