"""Logging: readable lines on a terminal, JSON otherwise. Never log secrets or email addresses."""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from click import style

from tickover.api.terminal import escape

_QUIET_SECONDS: Final = 10.0
_LEVEL_COLOURS: Final = {"debug": "green", "info": "green", "warning": "yellow"}


class Entry(NamedTuple):
    """The message of a log record: what happened, and its fields."""

    event: str
    fields: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.event} {self.fields}"


class Log:
    """Writes entries to a logger of the standard library, which other packages use too."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    @property
    def is_debug(self) -> bool:
        return self._logger.isEnabledFor(logging.DEBUG)

    def debug(self, event: str, **fields: object) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: object) -> None:
        """Log an error with the traceback of the exception that is being handled."""
        self._write(logging.ERROR, event, fields, has_traceback=True)

    def _write(self, level: int, event: str, fields: dict[str, object], *, has_traceback: bool = False) -> None:
        self._logger.log(level, Entry(event, fields), exc_info=has_traceback)


def open_log(level: str, format: str = "auto") -> Log:
    """Configure logging for this process, and return the log."""
    is_text = format == "text" or (format == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if is_text else JsonFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    return Log(logging.getLogger("tickover"))


class FailureLog:
    """Logs calls that fail because of the database, at most one per kind in ten seconds.

    It logs the cause, which responses don't contain.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._quiet: dict[tuple[object, ...], tuple[float, int]] = {}
        """Until when failures of a kind are not logged, and how many have not been."""

    def note(self, operation: str, described: Mapping[str, str], seconds: float, now: float, request_id: str) -> None:
        """Log a failure, or count it for the next line of its kind. `described` has its fields."""
        kind = operation, described.get("cause"), described.get("sqlstate")
        until, suppressed = self._quiet.get(kind, (now, 0))
        if now < until:
            self._quiet[kind] = until, suppressed + 1
            return
        self._quiet[kind] = now + _QUIET_SECONDS, 0
        milliseconds = round(seconds * 1000)
        fields = {**described, "milliseconds": milliseconds, "suppressed": suppressed, "request_id": request_id}
        self._log.warning("a call failed", method=operation, **fields)


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        entry = _entry(record)
        line = {**entry.fields, "event": entry.event, "level": _level(record), "timestamp": _timestamp(record)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=repr)


class TextFormatter(logging.Formatter):
    """Formats a record as a coloured line, and escapes its texts, because callers may control parts of them."""

    def format(self, record: logging.LogRecord) -> str:
        entry, level = _entry(record), _level(record)
        head = f"[{style(f'{level:9}', _LEVEL_COLOURS.get(level, 'red'), bold=True)}]"
        event = style(f"{escape(entry.event):30}", bold=True)
        fields = [f"{style(name, 'cyan')}={style(_quote(value), 'magenta')}" for name, value in entry.fields.items()]
        line = " ".join([style(_timestamp(record), dim=True), head, event, *sorted(fields)])
        if record.exc_info:
            line += "\n" + escape(self.formatException(record.exc_info), keep="\n")
        return line


def _entry(record: logging.LogRecord) -> Entry:
    """Return the entry of a record. Other packages log texts."""
    return record.msg if isinstance(record.msg, Entry) else Entry(record.getMessage(), {})


def _level(record: logging.LogRecord) -> str:
    return record.levelname.lower()


def _timestamp(record: logging.LogRecord) -> str:
    return f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _quote(value: object) -> str:
    """Return the value as it is if it reads as one word; otherwise, its representation, which escapes it."""
    if isinstance(value, str) and value.isprintable() and not set(value) & set(" ='\""):
        return value
    return repr(value)
