"""Errors that the client raises itself. An error that the server returns is a `Rejection`."""

from tickover.api.expectations import CheckResult


class ClientError(Exception):
    """Base class of the client's errors. The message is one or two sentences for people."""


class Unreachable(ClientError):
    """The server sent no response: the connection failed, broke or timed out."""


class InvalidResponse(ClientError):
    """The response isn't from a Tickover server, or this client can't decode it."""


class NothingLeft(ClientError):
    """The clock has no pending transaction and no upcoming contribution to advance to."""


class ExpectationFailed(AssertionError):
    """An expectation doesn't hold. The message lists the violations, and shows the events around the first one."""

    def __init__(self, message: str, result: CheckResult) -> None:
        super().__init__(message)
        self.result = result
