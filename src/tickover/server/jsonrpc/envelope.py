"""What travels: the JSON-RPC 2.0 envelope, parameters as types, and errors with their codes and HTTP statuses."""

import hashlib
import json as python_json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError, json

from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.api.limits import MAX_FAULTS, MAX_IDEMPOTENCY_KEY, MAX_NESTING
from tickover.api.timestamps import Instant
from tickover.server.domain.params import Params
from tickover.server.jsonrpc.decode import read

CODES: Final[dict[Reason, tuple[int, int]]] = {
    # Reason: (JSON-RPC code, HTTP status of a single call). Dispatched calls are answered 200, because generic clients
    # lose the error object otherwise; 401, 429 and 503 are kept because proxies and clients act on their headers.
    Reason.PARSE_ERROR: (-32700, 400),
    Reason.INVALID_REQUEST: (-32600, 400),
    Reason.METHOD_NOT_FOUND: (-32601, 200),
    Reason.INVALID_PARAMS: (-32602, 200),
    Reason.UNAUTHENTICATED: (-32001, 401),
    Reason.CLOCK_NOT_FOUND: (-32004, 200),
    Reason.CLOCK_EXPIRED: (-32010, 200),
    Reason.TIME_BEFORE_CURRENT: (-32011, 200),
    Reason.TIME_AFTER_MAX: (-32012, 200),
    Reason.LOGIN_REFUSED: (-32020, 200),
    Reason.RESEND_TOO_SOON: (-32005, 429),
    Reason.RATE_LIMITED: (-32005, 429),
    Reason.MAIL_NOT_SENT: (-32030, 200),
    Reason.UNAVAILABLE: (-32050, 503),
    Reason.INTERNAL: (-32603, 500),
    Reason.METHOD_NOT_ALLOWED: (-32600, 405),
    Reason.UNSUPPORTED_MEDIA_TYPE: (-32600, 415),
    Reason.BODY_TOO_LARGE: (-32600, 413),
}

NULL: Final = b"null"
_ABSENT: Final = Raw(b"")


class FastEnvelope(Struct):
    """A call as nearly all are; whatever the decoder finds unlike it is looked at more closely."""

    jsonrpc: Literal["2.0"]
    method: str
    params: Raw = Raw(b"{}")
    id: Raw = _ABSENT


class Request(Struct, frozen=True):
    """A call. `params` stay unread until the method is known; `id` is echoed byte for byte."""

    method: str
    params: bytes
    id: bytes
    """Empty for a notification, which is never answered."""


class _Envelope(Struct):
    """Any object: what it must be is checked one by one, so that a refusal can say which, and echo the id."""

    jsonrpc: Raw = _ABSENT
    method: Raw = _ABSENT
    params: Raw = Raw(b"{}")
    id: Raw = _ABSENT


class ErrorObject(Struct, frozen=True):
    code: int
    message: str
    data: dict[str, Any]


_read_list: Final = json.Decoder(list[Raw]).decode
_read_fast_envelope: Final = json.Decoder(FastEnvelope).decode
_read_envelope: Final = json.Decoder(_Envelope).decode
_read_string: Final = json.Decoder(str).decode
_write: Final = json.Encoder().encode


def check_nesting(body: bytes) -> None:
    """Raise PARSE_ERROR if arrays and objects are nested more than MAX_NESTING deep.

    Decoders recurse at each level. Their own limit depends on the version of Python and on the size of the stack.
    """
    if body.count(b"[") + body.count(b"{") <= MAX_NESTING:
        return
    # Without escaped quotes, every second piece is outside of strings.
    pieces = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(pieces).translate(_TO_BRACKETS, _NOT_BRACKETS)
    for _ in range(MAX_NESTING):
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets or brackets.count(b"[") > MAX_NESTING:
        raise _parse_error(f"it is nested more than {MAX_NESTING} levels deep")


_TO_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


def read_text_of(body: bytes) -> str:
    """The body as text that is JSON throughout; PARSE_ERROR otherwise.

    A lone surrogate is JSON but not text. It becomes U+0000, which no field takes either, so that it is refused in its
    own field and by name.
    """
    try:
        text = body.decode()
        try:
            json.decode(text, type=Raw)
        except DecodeError:
            text = _LONE_SURROGATE.sub(lambda found: "\\u0000" if found["lone"] else found[0], text)
            json.decode(text, type=Raw)
    except UnicodeDecodeError as error:
        raise _parse_error(f"it is not UTF-8 from byte {error.start} on") from None
    except DecodeError as error:
        raise _parse_error(str(error).removeprefix("JSON is malformed: ")) from None
    return text


# Escaped backslashes and whole pairs are matched only so that nothing within them is.
_LONE_SURROGATE: Final = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def _parse_error(why: str) -> Rejection:
    return Rejection(Reason.PARSE_ERROR, f"The body is not JSON: {why}.")


def try_fast_decode(body: bytes) -> Request | None:
    """The call that is the whole body, in one pass over it; None when it is a batch, or unusual in any way."""
    try:
        call = _read_fast_envelope(body.decode())
    except (UnicodeDecodeError, DecodeError):
        return None
    id, params = bytes(call.id), bytes(call.params)
    if not id or id[:1] not in _ID_STARTS or b"u0000" in id or not params.startswith(b"{"):
        return None
    return Request(call.method, params, id)


def read_batch(text: str) -> list[Raw]:
    return _read_list(text)


class NotARequest(Rejection):
    """An INVALID_REQUEST, with the id if one could be read."""

    def __init__(self, why: str, id: bytes = NULL) -> None:
        super().__init__(Reason.INVALID_REQUEST, f"This is not a JSON-RPC 2.0 request: {why}.")
        self.id = id


def read_request(text: str | Raw) -> Request:
    """Read one call from JSON; NotARequest when it is something else."""
    try:
        envelope = _read_envelope(text)
    except ValidationError:
        raise NotARequest("it must be an object") from None
    id, params = bytes(envelope.id), bytes(envelope.params)
    if id and id[:1] not in _ID_STARTS:
        raise NotARequest("id must be a string, a number or null")
    if b"u0000" in id and "\0" in _read_string(id):
        raise NotARequest("id must be text without U+0000 and lone surrogates")
    if _string(envelope.jsonrpc) != "2.0":
        raise NotARequest('jsonrpc must be the string "2.0"', id or NULL)
    method = _string(envelope.method)
    if method is None:
        raise NotARequest("method must be a string", id or NULL)
    if params[:1] not in (b"{", b"["):
        raise NotARequest("params must be an object", id or NULL)
    return Request(method, params, id)


_ID_STARTS: Final = frozenset({b'"', b"n", b"-", *(b"%d" % digit for digit in range(10))})


def _string(written: Raw) -> str | None:
    return _read_string(written) if bytes(written).startswith(b'"') else None


_Params = TypeVar("_Params", bound=Params)


def read_params(
    kind: type[_Params], method: str, written: bytes, now: Instant, beside: Sequence[Fault] = ()
) -> _Params:
    """Read a method's parameters; a Rejection that names every fault, also those beside them, when there are any."""
    faults, params = read(kind, written, now)
    if params is None or faults or beside:
        raise invalid_params(method, [*faults, *beside][:MAX_FAULTS])
    return params


def faults_of_key(header: bytes) -> list[Fault]:
    """What is wrong with an Idempotency-Key. One that was sent twice arrives here empty."""
    if 1 <= len(header) <= MAX_IDEMPOTENCY_KEY:
        return []
    return [Fault("Idempotency-Key", "length", f"must be one header of 1 to {MAX_IDEMPOTENCY_KEY} characters")]


def digest_of_params(written: bytes) -> bytes:
    """Equal for parameters that are equal as JSON, however they are laid out. They must have been read before."""
    parsed = python_json.loads(written, parse_int=_number, parse_float=_number)
    return hashlib.sha256(python_json.dumps(parsed, sort_keys=True).encode()).digest()


def _number(digits: str) -> int | float:
    """As a double, whole where it is; one of a name that stands there twice may be any number at all."""
    number = float(digits)
    return int(number) if number.is_integer() else number


def write_result(id: bytes, result: bytes | Struct) -> bytes:
    written = result if isinstance(result, bytes) else _write(result)
    return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (written, id)


def write_error(id: bytes, rejection: Rejection) -> bytes:
    code, _ = CODES[rejection.reason]
    error = ErrorObject(code, rejection.message, {"reason": rejection.reason, **rejection.details})
    return b'{"jsonrpc":"2.0","error":%b,"id":%b}' % (_write(error), id)
