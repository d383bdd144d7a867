"""The JSON-RPC 2.0 envelope: calls, results and errors."""

import re
from typing import Final

from msgspec import DecodeError, Raw, Struct, ValidationError, json

from tickover.api.errors import Reason, Rejection
from tickover.api.json_depth import is_nested_too_deeply
from tickover.api.limits import MAX_NESTING
from tickover.server.rpc.reasons import REASONS

NULL: Final = b"null"


class _Envelope(Struct, gc=False):
    """The members of a call, each as JSON."""

    jsonrpc: Raw = Raw()
    method: Raw = Raw()
    params: Raw = Raw(b"{}")
    id: Raw = Raw()


class Call(Struct, frozen=True, gc=False):
    """A call. `params` is not decoded yet; the response repeats `id` byte for byte."""

    operation: str
    params: bytes
    id: bytes
    """Empty for a notification, which has no response."""


_decode_batch: Final = json.Decoder(list[Raw]).decode
_decode_envelope: Final = json.Decoder(_Envelope).decode
_decode_string: Final = json.Decoder(str).decode
_encode: Final = json.Encoder().encode


def decode(body: bytes) -> Call | list[Raw]:
    """Decode a call, or a batch of calls for `decode_call`. Raise PARSE_ERROR or InvalidRequest if it is neither."""
    if is_nested_too_deeply(body):
        raise _parse_error(f"it is nested more than {MAX_NESTING} levels deep")
    try:
        text = decode_text(body)
        return _decode_batch(text) if text.lstrip(" \t\r\n").startswith("[") else decode_call(text)
    except UnicodeDecodeError as error:
        raise _parse_error(f"invalid UTF-8 at byte {error.start}") from None
    except DecodeError as error:
        raise _parse_error(str(error).removeprefix("JSON is malformed: ")) from None


def decode_text(body: bytes) -> str:
    """Return the body as text.

    A lone surrogate is valid JSON but not valid text. It becomes U+0000, which is invalid in every field, so that the
    error names the field.
    """
    text = body.decode()
    # Looking for one character first is much faster.
    if "\\" in text and (r"\ud" in text or r"\uD" in text):
        text = _SURROGATES.sub(lambda found: found[1] or r"\u0000", text)
    return text


# The group has escaped backslashes and surrogate pairs, which stay. Without it, the match is a lone surrogate.
_SURROGATES: Final = re.compile(
    r"((?:\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+)|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def _parse_error(why: str) -> Rejection:
    return Rejection(Reason.PARSE_ERROR, f"The body is not valid JSON: {why}.")


class InvalidRequest(Rejection):
    """An INVALID_REQUEST, with the request's id if it is valid."""

    def __init__(self, why: str, id: bytes = NULL) -> None:
        super().__init__(Reason.INVALID_REQUEST, f"Invalid JSON-RPC 2.0 request: {why}.")
        self.id = id


def decode_call(text: str | Raw) -> Call:
    """Decode one call. Raise InvalidRequest, which names the wrong member, if it isn't one."""
    try:
        envelope = _decode_envelope(text)
    except ValidationError:
        # It may be malformed after its first character.
        json.decode(text, type=Raw)
        raise InvalidRequest("it must be an object") from None
    id, params = bytes(envelope.id), bytes(envelope.params)
    if id and id[:1] not in _ID_STARTS:
        raise InvalidRequest("id must be a string, a number or null")
    if b"u0000" in id and "\0" in _decode_string(id):
        raise InvalidRequest("id must not contain U+0000 or lone surrogates")
    if _string(envelope.jsonrpc) != "2.0":
        raise InvalidRequest('jsonrpc must be the string "2.0"', id or NULL)
    method = _string(envelope.method)
    if method is None:
        raise InvalidRequest("method must be a string", id or NULL)
    if params[:1] not in (b"{", b"["):
        raise InvalidRequest("params must be an object", id or NULL)
    return Call(method, params, id)


_ID_STARTS: Final = frozenset({b'"', b"n", b"-", *(b"%d" % digit for digit in range(10))})


def _string(encoded: Raw) -> str | None:
    return _decode_string(encoded) if bytes(encoded).startswith(b'"') else None


def encode_result(id: bytes, result: bytes | Struct) -> bytes:
    encoded = result if isinstance(result, bytes) else _encode(result)
    return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (encoded, id)


def encode_error(id: bytes, rejection: Rejection) -> bytes:
    data = {"reason": rejection.reason, **rejection.details}
    error = {"code": REASONS[rejection.reason].code, "message": rejection.message, "data": data}
    return b'{"jsonrpc":"2.0","error":%b,"id":%b}' % (_encode(error), id)
