"""What each reason means: its JSON-RPC code, its HTTP status, its text, and the members of `data`."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.api.limits import MAX_BATCH, MAX_BODY, MAX_CANCELLED, MAX_FAULTS, MAX_NESTING


class Meaning(Struct, frozen=True):
    code: int
    http_status: int
    """Of a single call. Most errors have status 200, because generic clients ignore the error object otherwise. 401,
    403, 429 and 503 stay, because proxies and clients act on them."""
    description: str
    data: Mapping[str, Any] = {}
    """The JSON Schemas of the members of `data` other than the reason."""


_INSTANT: Final = {"type": "string", "format": "date-time"}
_SECONDS: Final = {
    "retryAfterSeconds": {"description": "Retry the call after this many seconds.", "type": "integer", "minimum": 1}
}

REASONS: Final[dict[Reason, Meaning]] = {
    Reason.PARSE_ERROR: Meaning(
        -32700, 400, f"The body is not JSON, not UTF-8, or nested more than {MAX_NESTING} levels deep."
    ),
    Reason.INVALID_REQUEST: Meaning(
        -32600,
        400,
        "The body is not a JSON-RPC 2.0 request, or the server doesn't serve this Host. Or the batch is empty, has "
        f"more than {MAX_BATCH} calls, has an `Idempotency-Key`, or its response could be too large.",
    ),
    Reason.METHOD_NOT_FOUND: Meaning(-32601, 200, "There is no operation with this name."),
    Reason.INVALID_PARAMS: Meaning(
        -32602,
        200,
        "A parameter, or a combination of parameters, is invalid.",
        {
            "errors": {
                "description": "All invalid fields. Their order may change.",
                "type": "array",
                "items": {"$ref": "#/components/schemas/Fault"},
                "maxItems": MAX_FAULTS,
            }
        },
    ),
    Reason.UNAUTHENTICATED: Meaning(-32001, 401, "The token is missing, malformed, unknown, expired or revoked."),
    Reason.FORBIDDEN: Meaning(
        -32003, 403, "The access token is read-only, or the operation needs a token from a sign-in."
    ),
    Reason.CLOCK_NOT_FOUND: Meaning(
        -32004, 200, "You have no clock with this ID. It never existed, was deleted, or has another owner."
    ),
    Reason.CLOCK_EXPIRED: Meaning(
        -32010, 200, "The clock has expired, because it was created seven days ago or earlier."
    ),
    Reason.TIME_BEFORE_CURRENT: Meaning(
        -32011,
        200,
        "The time is before the clock's `frozenTime`.",
        {"currentFrozenTime": {"description": "The clock's current simulated time.", **_INSTANT}},
    ),
    Reason.TIME_AFTER_MAX: Meaning(
        -32012,
        200,
        "The time is after the clock's `maxTime`.",
        {"maxTime": {"description": "The latest simulated time of the clock.", **_INSTANT}},
    ),
    Reason.ITEM_NOT_PENDING: Meaning(
        -32013,
        200,
        "An item to cancel has already happened. `itemIds` has all such items.",
        {
            "itemIds": {
                "description": "The IDs of the items that have already happened.",
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MAX_CANCELLED,
            }
        },
    ),
    Reason.LOGIN_REFUSED: Meaning(
        -32020,
        200,
        "The code or link is wrong, used, expired or not the newest, or no attempts are left. The response doesn't say "
        "which.",
    ),
    Reason.RESEND_TOO_SOON: Meaning(-32005, 429, "An email was just sent to this address.", _SECONDS),
    Reason.RATE_LIMITED: Meaning(
        -32005,
        429,
        "Too many live clocks, stored bytes, access tokens, connections, emails or sign-in calls.",
        _SECONDS,
    ),
    Reason.MAIL_NOT_SENT: Meaning(
        -32030, 200, "The mail server didn't accept the email, or the connection to it was lost."
    ),
    Reason.UNAVAILABLE: Meaning(
        -32050,
        503,
        "The database is unavailable, the server is overloaded or stopping, or its clock is wrong.",
        _SECONDS,
    ),
    Reason.INTERNAL: Meaning(
        -32603,
        500,
        "A bug in the server. Its log has details under the same request ID.",
        {
            "requestId": {
                "description": "Report this ID with the bug. It is also in the header `X-Request-Id`.",
                "type": "string",
            }
        },
    ),
    Reason.METHOD_NOT_ALLOWED: Meaning(-32600, 405, "The HTTP method is not POST."),
    Reason.UNSUPPORTED_MEDIA_TYPE: Meaning(-32600, 415, "The content type is not JSON, or the charset is not UTF-8."),
    Reason.BODY_TOO_LARGE: Meaning(-32600, 413, f"The body is larger than {MAX_BODY:,} bytes."),
}
