"""The JSON-RPC 2.0 envelope: calls, results and errors."""

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import DecodeError, Raw, Struct, ValidationError, json

from tickover.api.errors import Reason, Rejection
from tickover.api.limits import MAX_NESTING
from tickover.api.nesting import is_nested_too_deeply
from tickover.server.rpc.reasons import REASONS

NULL: Final = b"null"


class FastEnvelope(Struct, gc=False):
    """A usual call, which takes one pass of the decoder. `decode_call` is for all others."""

    jsonrpc: Literal["2.0"]
    method: str
    params: Raw = Raw(b"{}")
    id: Raw = Raw(b"")


class Call(Struct, frozen=True, gc=False):
    """A call. `params` is not decoded yet; the response repeats `id` byte for byte."""

    operation: str
    params: bytes
    id: bytes
    """Empty for a notification, which has no response."""


_decode_batch: Final = json.Decoder(list[Raw]).decode
_decode_fast_envelope: Final = json.Decoder(FastEnvelope).decode
_decode_object: Final = json.Decoder(dict[str, Raw]).decode
_decode_string: Final = json.Decoder(str).decode
_encode: Final = json.Encoder().encode


def decode(body: bytes) -> Call | list[Raw]:
    """Decode a call, or a batch of calls for `decode_call`. Raise PARSE_ERROR or InvalidRequest if it is neither."""
    if is_nested_too_deeply(body):
        raise _parse_error(f"it is nested more than {MAX_NESTING} levels deep")
    call = _try_fast_decode(body)
    if call is not None:
        return call
    text = decode_text(body)
    return _decode_batch(text) if text.lstrip(" \t\r\n").startswith("[") else decode_call(text)


def decode_text(body: bytes) -> str:
    """Return the body as text. Raise PARSE_ERROR if it is not JSON.

    A lone surrogate is valid JSON but not valid text. It becomes U+0000, which is invalid in every field, so that the
    error names the field.
    """
    try:
        text = body.decode()
        try:
            json.decode(text, type=Raw)
        except DecodeError:
            text = _SURROGATES.sub(lambda found: found[1] or r"\u0000", text)
            json.decode(text, type=Raw)
    except UnicodeDecodeError as error:
        raise _parse_error(f"invalid UTF-8 at byte {error.start}") from None
    except DecodeError as error:
        raise _parse_error(str(error).removeprefix("JSON is malformed: ")) from None
    return text


# The group has escaped backslashes and surrogate pairs, which stay. Without it, the match is a lone surrogate.
_SURROGATES: Final = re.compile(
    r"((?:\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+)|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def _parse_error(why: str) -> Rejection:
    return Rejection(Reason.PARSE_ERROR, f"The body is not valid JSON: {why}.")


def _try_fast_decode(body: bytes) -> Call | None:
    """Decode a usual call in one pass. Return None for a batch or an unusual call; unusual calls can be valid."""
    try:
        # The decoder doesn't check the UTF-8 of parameters.
        body.decode()
        call = _decode_fast_envelope(body)
    except (UnicodeDecodeError, DecodeError):
        return None
    id, params = bytes(call.id), bytes(call.params)
    if not id or id[:1] not in _ID_STARTS or b"u0000" in id or not params.startswith(b"{"):
        return None
    return Call(call.method, params, id)


class InvalidRequest(Rejection):
    """An INVALID_REQUEST, with the request's id if it is valid."""

    def __init__(self, why: str, id: bytes = NULL) -> None:
        super().__init__(Reason.INVALID_REQUEST, f"Invalid JSON-RPC 2.0 request: {why}.")
        self.id = id


def decode_call(text: str | Raw) -> Call:
    """Decode one call. Raise InvalidRequest, which names the wrong member, if it isn't one."""
    try:
        envelope = _decode_object(text)
    except ValidationError:
        raise InvalidRequest("it must be an object") from None
    id, params = bytes(envelope.get("id", b"")), bytes(envelope.get("params", b"{}"))
    if id and id[:1] not in _ID_STARTS:
        raise InvalidRequest("id must be a string, a number or null")
    if b"u0000" in id and "\0" in _decode_string(id):
        raise InvalidRequest("id must not contain U+0000 or lone surrogates")
    if _string(envelope, "jsonrpc") != "2.0":
        raise InvalidRequest('jsonrpc must be the string "2.0"', id or NULL)
    method = _string(envelope, "method")
    if method is None:
        raise InvalidRequest("method must be a string", id or NULL)
    if params[:1] not in (b"{", b"["):
        raise InvalidRequest("params must be an object", id or NULL)
    return Call(method, params, id)


_ID_STARTS: Final = frozenset({b'"', b"n", b"-", *(b"%d" % digit for digit in range(10))})


def _string(envelope: Mapping[str, Raw], name: str) -> str | None:
    encoded = bytes(envelope.get(name, b""))
    return _decode_string(encoded) if encoded.startswith(b'"') else None


def encode_result(id: bytes, result: bytes | Struct) -> bytes:
    encoded = result if isinstance(result, bytes) else _encode(result)
    return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (encoded, id)


def encode_error(id: bytes, rejection: Rejection) -> bytes:
    data = {"reason": rejection.reason, **rejection.details}
    error = {"code": REASONS[rejection.reason].code, "message": rejection.message, "data": data}
    return b'{"jsonrpc":"2.0","error":%b,"id":%b}' % (_encode(error), id)
