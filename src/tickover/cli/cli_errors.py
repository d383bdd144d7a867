"""Errors that the command line reports: a message, a hint, and an exit code."""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from tickover.api.terminal import sanitize

if TYPE_CHECKING:
    from tickover.api.errors import Fault


class Exit(IntEnum):
    """Exit codes of the command."""

    DONE = 0
    UNEXPECTED = 1
    WRONG_COMMAND = 2
    NOT_SIGNED_IN = 3
    REFUSED = 4
    NOT_FOUND = 5
    NOTHING_LEFT = 6
    UNAVAILABLE = 7
    LATER = 8
    VIOLATED = 9
    INTERRUPTED = 130


class CliError(Exception):
    """A command failed, and the user can do something about it."""

    def __init__(
        self,
        exit: Exit,
        message: str,
        hint: str = "",
        *,
        more: Sequence[str] = (),
        reason: str = "",
        faults: "Sequence[Fault]" = (),
    ) -> None:
        super().__init__(message)
        self.exit = exit
        self.message = message
        self.more = more
        """Messages about other mistakes of the same kind."""
        self.hint = hint
        """The next step for the user, often a command."""
        self.reason = reason or exit.name
        self.faults = faults

    @property
    def lines(self) -> list[str]:
        """The error as text for people."""
        from tickover.api.errors import format_faults

        hint = [f"  {self.hint}"] if self.hint else []
        messages = [f"tickover: {message}" for message in (self.message, *self.more)]
        lines = [*messages, *format_faults(self.faults), *hint]
        return [sanitize(line) for line in lines]

    @property
    def document(self) -> dict[str, Any]:
        """The error as JSON for programs."""
        error: dict[str, Any] = {"reason": self.reason, "exitCode": int(self.exit), "message": self.message}
        if self.more:
            error["more"] = list(self.more)
        if self.hint:
            error["hint"] = self.hint
        if self.faults:
            error["errors"] = [{"path": fault.path, "message": fault.message} for fault in self.faults]
        return {"error": error}
