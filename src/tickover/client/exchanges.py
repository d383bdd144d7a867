"""One exchange with the server as plain values: what is sent, and what came of it."""

from collections.abc import Mapping

from msgspec import Struct


class Request(Struct, frozen=True):
    """What is sent, but for the token, which is added last so that nothing else holds it."""

    verb: str
    path: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    content: bytes = b""


class Reply(Struct, frozen=True):
    """An HTTP answer, whoever it is from."""

    url: str
    status: int
    content: bytes
    kind: str = ""
    """Its content type."""
    leads_to: str = ""
    """Where a redirect leads, without a path."""


class Lost(Struct, frozen=True):
    """There was no answer."""

    why: str
    may_have_arrived: bool
    """Whether the server may have done what it was asked all the same."""
