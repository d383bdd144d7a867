"""Replies, read into types: a result, a rejection, or the remark that no Tickover server is there."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Literal, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType, convert
from msgspec.json import Decoder

from tickover.client.errors import BadAnswer
from tickover.client.exchanges import Reply
from tickover.core.errors import Fault, Reason, Rejection

T = TypeVar("T")


class _Refusal(Struct, frozen=True):
    message: str
    data: dict[str, Any]


class _Answer(Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: int | float | str | None = None
    result: Raw | UnsetType = UNSET
    error: _Refusal | UnsetType = UNSET


_ANSWER: Final = Decoder(_Answer)
_UNREADABLE: Final = (ValueError, RecursionError)
_MOST_DIGITS: Final = 400
"""Before or after the point of an amount; the largest and the smallest double have fewer."""


def result_of(reply: Reply, id: int, decoder: Decoder[T]) -> T:
    """The result of the call with this id; raises Rejection or BadAnswer when there is none."""
    answer = _answer_in(reply)
    if answer.error is not UNSET:
        # A request that could not even be read is refused with null for its id.
        if answer.id not in (id, None):
            raise _of_another_call(reply)
        raise _rejection(reply, answer.error)
    if answer.id != id:
        raise _of_another_call(reply)
    if answer.result is UNSET:
        raise _not_tickover(reply)
    return _read(reply, bytes(answer.result), decoder)


def document_of(reply: Reply, decoder: Decoder[T]) -> T | None:
    """The document of a page that is JSON, or None when there is none, as for what is no address (400)."""
    if reply.status == 200:
        return _read(reply, reply.content, decoder)
    if reply.status in (400, 404) and reply.kind.startswith("text/plain"):
        return None
    refusal = _answer_in(reply).error
    raise _not_tickover(reply) if refusal is UNSET else _rejection(reply, refusal)


def _answer_in(reply: Reply) -> _Answer:
    if reply.leads_to:
        raise BadAnswer(
            f"{reply.url} redirects to {reply.leads_to}, and redirects are not followed; give the address it leads to."
        )
    try:
        return _ANSWER.decode(reply.content)
    except _UNREADABLE:
        raise _not_tickover(reply) from None


def _read(reply: Reply, content: bytes, decoder: Decoder[T]) -> T:
    try:
        read = decoder.decode(content)
        _refuse_boundless(read)
        return read
    except _UNREADABLE as error:
        # Of the decoder's words only the path, because the others may quote what the server sent.
        _, _, path = str(error).partition(" - at ")
        where = f" (at {path})" if path else ""
        raise BadAnswer(
            f"{reply.url} answered what this client cannot read{where}; is one of the two older than the other?"
        ) from None


def _refuse_boundless(read: Any) -> None:
    """ValueError for amounts that no double holds, and instants that UTC has no name for.

    No Tickover server answers them, and to write out a number with a billion digits would take all there is.
    """
    match read:
        case Struct():
            for name in read.__struct_fields__:
                _refuse_boundless(getattr(read, name))
        case list():
            for one in read:
                _refuse_boundless(one)
        case Decimal() if not read.is_finite() or abs(read.adjusted()) > _MOST_DIGITS:
            raise ValueError("an amount beyond all doubles")
        case datetime():
            try:
                read.astimezone(UTC)
            except OverflowError:
                raise ValueError("an instant beyond the calendar") from None


def _rejection(reply: Reply, refusal: _Refusal) -> Rejection:
    details = dict(refusal.data)
    name = details.pop("reason", None)
    try:
        reason = Reason(name)
        if "errors" in details:
            details["errors"] = convert(details["errors"], list[Fault])
    except ValueError:
        raise BadAnswer(
            f"{reply.url} refused the call in a way that this client does not know; it may be too old for this server."
        ) from None
    return Rejection(reason, refusal.message, details)


def _not_tickover(reply: Reply) -> BadAnswer:
    return BadAnswer(
        f"{reply.url} answered with HTTP status {reply.status} and no JSON-RPC;"
        " is this the address of a Tickover server, without /rpc?"
    )


def _of_another_call(reply: Reply) -> BadAnswer:
    return BadAnswer(f"{reply.url} answered another call than the one that was made; is something in between?")
