"""Descriptions of operations, types, fields and reasons in the OpenRPC document."""

from typing import Final

from tickover.api import limits
from tickover.api.errors import Reason

ABOUT: Final = (
    "Test clocks with simulated money, and sign-in by email. The protocol is JSON-RPC 2.0 over `POST /rpc` with "
    f"`Content-Type: application/json`. An array of up to {limits.MAX_BATCH} calls is a batch. A call without `id` is "
    "a notification and has no response.\n\n"
    "Send parameters by name. Unknown names and null are invalid: omit parameters that you don't need. Strings must "
    "not contain U+0000 or lone surrogates; their lengths count Unicode code points. Timestamps are RFC 3339 with an "
    "offset. Responses use UTC. IDs, tokens and cursors are opaque.\n\n"
    "An error has a `code`, a `message` for people, and `data`. Programs should match on `data.reason`. In the OpenRPC "
    "document, `data` of an error is a JSON Schema. Later versions may add members to responses."
)

BEARER: Final = "Requires a token: send the header `Authorization: Bearer <token>`."
PUBLIC: Final = "Requires no token."
TAKES_KEY: Final = (
    f"You can retry the call safely with an `Idempotency-Key` header of 1 to {limits.MAX_IDEMPOTENCY_KEY} characters. "
    "The same key with the same operation and parameters returns the same clock, as it is now, as long as the clock "
    "lives. The same key with another operation or other parameters is invalid. Batches can't have the header."
)

_NEEDS_SIGN_IN: Final = "Access tokens can't call this operation: it needs a token from a sign-in."

TAGS: Final = {
    "extension": "An addition to the four operations of the interface.",
    "token": BEARER,
}

METHODS: Final = {
    "createTestClock": (
        "You own the clock, and it expires seven days after its creation. All parameters are optional. Items dated "
        "exactly at `frozenTime` have already happened."
    ),
    "advanceTestClock": (
        "Items dated at or before the new `frozenTime` become posted. Advancing to the current `frozenTime` "
        "changes nothing, so you can retry a call whose response was lost. Time only moves forward; to rewind, fork "
        "the clock."
    ),
    "sendLoginCodeEmail": (
        "`LOGIN_CODE` requires `SHORT_LIVED` and sends a code. `WEB_LOGIN_LINK` requires `LONG_LIVED` and sends a "
        f"link. By default, an address can receive one email every {limits.RESEND_INTERVAL.seconds} seconds. The "
        "response arrives after the mail server has accepted the email. It is the same for known and unknown addresses."
    ),
    "loginByEmailVerification": (
        "A code works once, allows few attempts, and becomes invalid when a newer code is sent. The first sign-in of "
        "an address creates its user. All invalid codes get the same response."
    ),
    "loginByEmailLink": (
        "The page of a login link calls this operation when you press its button. A link works once. All invalid links "
        "get the same response."
    ),
    "logout": "Your other tokens stay valid. To revoke an access token, call `revokeAccessToken`.",
    "getTestClock": "This never moves the clock.",
    "listTestClocks": (
        "Doesn't list expired clocks. Pass `nextCursor` as `cursor` to get the next page. With `labels`, one call "
        f"searches at most {limits.MAX_SCANNED_CLOCKS:,} clocks. So a page can have fewer clocks than `limit`, or "
        "none, and still have a `nextCursor`."
    ),
    "updateTestClock": (
        "Changes only the parameters that you pass. `labels` replaces all labels. `null` removes the name or all "
        "labels. This never moves the clock, and its schedule stays the same."
    ),
    "deleteTestClock": "Deletes the clock and its schedule immediately. You can reuse its idempotency keys.",
    "forkTestClock": (
        "To rewind, fork at an earlier instant. The original doesn't change. The fork has all items of the original, "
        "including those that amendments added, and the same `maxTime`. It has its own IDs and expires seven days from "
        "now."
    ),
    "amendTestClock": (
        "The past never changes: you can cancel only items after `frozenTime`. A new item that is dated exactly at the "
        "clock's `frozenTime` happens immediately. The call changes all or nothing. A clock holds at most "
        f"{limits.MAX_CLOCK_TRANSACTIONS:,} transactions, {limits.MAX_CLOCK_GOALS} goals, "
        f"{limits.MAX_GOAL_CONTRIBUTIONS} contributions to one goal, {limits.MAX_CLOCK_ITEMS:,} transactions and "
        f"contributions in total, and {limits.MAX_CLOCK_CURRENCIES} different currencies. The server never reuses the "
        "IDs of cancelled items."
    ),
    "listTestClockEvents": (
        "Returns events after `after`, up to and including `until`, in order of time. Among events of one instant, "
        "transactions come first, then goals in the order of the request. An event after the clock's `frozenTime` is "
        "pending. The ID of an event never changes. Pass `nextCursor` as `cursor` to get the next page."
    ),
    "getTestClockBalances": (
        "Returns one balance for each currency of the clock or of `openingBalances`, sorted by currency. Sums are "
        "exact. Transactions of one instant count together: the lowest and the highest balance are taken after all of "
        "them. This never moves the clock."
    ),
    "checkTestClock": (
        "Checks expectations from the clock's start to `until`, and returns a result for each, in the order of the "
        "request. A violation names the first instant at which the expectation doesn't hold. A currency, category or "
        "goal that the clock doesn't have is rejected. This never moves the clock."
    ),
    "expandScenario": (
        "Reads a scenario in TOML, as the command `tickover clock create` does, and creates nothing. Pass `params` to "
        "`createTestClock`, and `expectations` to `checkTestClock`. The fault of an invalid scenario has its `line`."
    ),
    "exportTestClock": (
        "Returns a file with one account statement for each currency, the same as `tickover clock export`. `ofx` and "
        "`camt053` need at least one transaction or opening balance. `camt053` allows 5 decimals."
    ),
    "getCurrentUser": "Use it to check a token.",
    "createAccessToken": (
        "Use the token as a bearer token, for example in a CI job. Only this response contains it. A read-only token "
        f"can call only operations that change nothing. You can have {limits.MAX_ACCESS_TOKENS} live access tokens. "
        f"{_NEEDS_SIGN_IN}"
    ),
    "listAccessTokens": f"Doesn't list expired tokens. {_NEEDS_SIGN_IN}",
    "revokeAccessToken": (
        "The token stops working immediately, on every server. An unknown ID and the ID of another user's token get "
        f"the same response. {_NEEDS_SIGN_IN}"
    ),
}

REASONS: Final = {
    Reason.PARSE_ERROR: f"The body is not JSON, not UTF-8, or nested more than {limits.MAX_NESTING} levels deep.",
    Reason.INVALID_REQUEST: (
        "The body is not a JSON-RPC 2.0 request, or the server doesn't serve this Host. Or the batch is empty, has "
        f"more than {limits.MAX_BATCH} calls, has an `Idempotency-Key`, or its response could be too large."
    ),
    Reason.METHOD_NOT_FOUND: "There is no operation with this name.",
    Reason.INVALID_PARAMS: "A parameter, or a combination of parameters, is invalid.",
    Reason.UNAUTHENTICATED: "The token is missing, malformed, unknown, expired or revoked.",
    Reason.FORBIDDEN: "The access token is read-only, or the operation needs a token from a sign-in.",
    Reason.CLOCK_NOT_FOUND: "You have no clock with this ID. It never existed, was deleted, or has another owner.",
    Reason.CLOCK_EXPIRED: "The clock has expired, because it was created seven days ago or earlier.",
    Reason.TIME_BEFORE_CURRENT: "The time is before the clock's `frozenTime`.",
    Reason.TIME_AFTER_MAX: "The time is after the clock's `maxTime`.",
    Reason.ITEM_NOT_PENDING: "An item to cancel has already happened. `itemIds` has all such items.",
    Reason.LOGIN_REFUSED: (
        "The code or link is wrong, used, expired or not the newest, or no attempts are left. The response doesn't say "
        "which."
    ),
    Reason.RESEND_TOO_SOON: "An email was just sent to this address.",
    Reason.RATE_LIMITED: "Too many live clocks, stored bytes, access tokens, emails or calls.",
    Reason.MAIL_NOT_SENT: "The mail server didn't accept the email, or the connection to it was lost.",
    Reason.UNAVAILABLE: "The database is unavailable, the server is overloaded or stopping, or its clock is wrong.",
    Reason.INTERNAL: "A bug in the server. Its log has details under the same request ID.",
    Reason.METHOD_NOT_ALLOWED: "The HTTP method is not POST.",
    Reason.UNSUPPORTED_MEDIA_TYPE: "The content type is not JSON, or the charset is not UTF-8.",
    Reason.BODY_TOO_LARGE: f"The body is larger than {limits.MAX_BODY:,} bytes.",
}
