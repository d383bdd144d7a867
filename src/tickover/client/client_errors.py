"""Errors that the client raises itself. An error that the server returns is a `Rejection`."""

from decimal import Decimal

from tickover.api.expectations import CheckResult
from tickover.api.reconciliation import Reconciliation


class ClientError(Exception):
    """Base class of the client's errors. The message is one or two sentences for people."""


class Unreachable(ClientError):
    """The server sent no response: the connection failed, broke or timed out."""

    def __init__(self, message: str, *, may_have_arrived: bool = True) -> None:
        super().__init__(message)
        self.may_have_arrived = may_have_arrived
        """Whether the server may have processed the request."""


class InvalidResponse(ClientError):
    """The response isn't from a Tickover server, or this client can't decode it."""


class NoCode(ClientError):
    """The development mailbox has no code for an address, for example because the server sends real emails."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"The development mailbox has no code for {email}. If the server sends real emails (TICKOVER_MAIL_URL isn't"
            " outbox:), pass the code to `log_in`. After too many wrong codes, use another address."
        )


class NothingLeft(ClientError):
    """The clock has no pending transaction and no upcoming contribution to advance to."""


class ExpectationFailed(AssertionError):
    """An expectation doesn't hold. The message lists the violations, and shows the events around the first one."""

    def __init__(self, message: str, result: CheckResult) -> None:
        super().__init__(message)
        self.result = result


class BooksDiffer(AssertionError):
    """The books of an app differ from those of the bank. The message shows the events around the first difference."""

    def __init__(self, message: str, result: Reconciliation[Decimal]) -> None:
        super().__init__(message)
        self.result = result
