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
        f"{limits.MAX_GOAL_CONTRIBUTIONS} contributions to one goal, and {limits.MAX_CLOCK_ITEMS:,} transactions and "
        "contributions in total. The server never reuses the IDs of cancelled items."
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

TYPES: Final = {
    # These replace docstrings that are written for readers of the code.
    "OneClock": "The clock with its items.",
    "ClockPage": "A page of the list.",
    "Done": "The operation succeeded.",
    "Sent": "The mail server accepted the email.",
    "EventPage": "A page of events.",
    "Balances": "The balances at an instant.",
    "CheckResult": "The results of all expectations.",
    "ExpandedScenario": "The parameters of a clock, and its expectations.",
    "ExportedClock": "A file with account statements.",
    "CurrentUser": "Your user and the token in use.",
    "CreatedAccessToken": "The new access token.",
    "AccessTokens": "Your live access tokens.",
    "SignedIn": "A bearer token and its user.",
    "TransactionEntry": "Income or an expense at an instant.",
    "GoalEntry": "A savings goal.",
    "AddEntry": "Items to add. You need `add`, `cancel` or both.",
    "AddedContributionEntry": "A payment towards a goal that the clock already has.",
    "ContributionEntry": "A payment towards a goal at an instant.",
}

FIELDS: Final = {
    # A name without a type describes the field in every type that has no description of its own.
    "id": "The clock's ID. It starts with `clock_`.",
    "at": "The instant at which the item takes effect.",
    "name": "The name of the transaction or goal.",
    "amount": "The amount of money.",
    "currency": "Three uppercase letters, such as `EUR`.",
    "type": "Whether money comes in or goes out.",
    "category": "Your own label. It may be empty.",
    "source": "Distinguishes simulated money from real money.",
    "frozenTime": "The current simulated time.",
    "maxTime": (
        f"The latest simulated time: {limits.SPAN_YEARS} years after the first `frozenTime` of the clock, or of the "
        "original if the clock is a fork."
    ),
    "startTime": "The first `frozenTime` of the clock, or of the original if the clock is a fork. Only with `details`.",
    "expiresAt": "The real time at which the clock expires: seven days after its creation.",
    "status": "The only status. Advancing is synchronous, so no other status is needed.",
    "email": "One email address.",
    "message": "Confirms that the operation succeeded.",
    # Parameters
    "ScheduleEntry.frozenTime": (
        f"The start of the clock, at most {limits.SPAN_YEARS} years before or after the current real time. Default: "
        "the current real time."
    ),
    "ScheduleEntry.transactions": "Income and expenses, in any order.",
    "ScheduleEntry.name": "Your own name for the clock.",
    "ForkEntry.name": "The name of the fork. Default: that of the original.",
    "UpdateEntry.name": "The new name, or null to remove it.",
    "Summary.name": "The name of the clock, if it has one.",
    "Snapshot.name": "The name of the clock, if it has one.",
    "details": "Whether the clock has its `startTime`, and each goal its `initialAmount`.",
    "ListEntry.details": "Whether each clock has its `startTime`.",
    "labels": (
        f"Your own labels. A name has 1 to {limits.MAX_LABEL_NAME} characters of `A-Z a-z 0-9 . _ - /`. A value is a "
        f"string of at most {limits.MAX_LABEL_VALUE} characters."
    ),
    "ListEntry.labels": "Returns only clocks that have all of these labels with these values.",
    "ForkEntry.labels": "The labels of the fork. Default: those of the original.",
    "UpdateEntry.labels": "The new labels, which replace all old ones, or null to remove them.",
    "Summary.labels": "The labels of the clock, if it has any.",
    "Snapshot.labels": "The labels of the clock, if it has any.",
    "ScheduleEntry.goals": "Savings goals.",
    "TransactionEntry.at": "The instant at which the item takes effect, from `frozenTime` to `maxTime` inclusive.",
    "ContributionEntry.at": "The instant of the payment, from `frozenTime` to `maxTime` inclusive.",
    "GoalEntry.targetAmount": "The amount to save.",
    "GoalEntry.initialAmount": "The amount at the start. It must not exceed `targetAmount`.",
    "GoalEntry.contributions": "Payments towards the goal, in any order.",
    "AdvanceEntry.frozenTime": "The new simulated time, from the clock's `frozenTime` to its `maxTime` inclusive.",
    "AmendEntry.cancel": "The IDs of pending transactions and upcoming contributions.",
    "AddEntry.transactions": "Income and expenses, in any order.",
    "AddEntry.goals": "New savings goals, with their contributions.",
    "AddEntry.contributions": "Payments towards goals that the clock already has, in any order.",
    "AddedContributionEntry.at": "The instant of the payment, from `frozenTime` to `maxTime` inclusive.",
    "AddedContributionEntry.goalId": "The ID of a goal of this clock.",
    "GetEntry.at": (
        "Returns the clock as it would be at this instant, from its `frozenTime` to its `maxTime` inclusive. Default: "
        "its `frozenTime`."
    ),
    "ForkEntry.at": (
        "The `frozenTime` of the fork, from the original's first `frozenTime` to its `maxTime` inclusive. Default: the "
        "first `frozenTime`."
    ),
    "limit": "The maximum number of clocks.",
    "cursor": "The `nextCursor` of the previous page. Without it, the list starts with the newest clock.",
    "loginCodeType": "How long the code or link is valid: minutes for a code, an hour for a link. See `emailType`.",
    "emailType": "What the email contains: a code or a link.",
    "code": f"The {limits.CODE_DIGITS} digits from the email, including leading zeros.",
    "authenticationMethod": "The only supported method.",
    "EventsEntry.after": "Returns events after this instant. Default: from the clock's start on.",
    "EventsEntry.until": (
        "Returns events up to this instant, from the clock's start to its `maxTime`. Default: its `frozenTime`."
    ),
    "EventsEntry.limit": "The maximum number of events.",
    "EventsEntry.cursor": "The `nextCursor` of the previous page. Without it, the list starts with the first event.",
    "openingBalances": (
        "The balance of each currency before the clock's start, "
        f"from -{limits.MAX_OPENING_BALANCE:,} to {limits.MAX_OPENING_BALANCE:,}. A missing one is 0."
    ),
    "BalancesEntry.at": "An instant from the clock's start to its `maxTime`. Default: its `frozenTime`.",
    "CheckEntry.until": (
        "The end of the check, from the clock's start to its `maxTime`. Default: its `maxTime`, so that the whole "
        "schedule is checked."
    ),
    "CheckEntry.expectations": "Each has exactly one member.",
    "atLeast": "The smallest value that is allowed.",
    "atMost": "The largest value that is allowed.",
    "from": "The start of the range. Default: the clock's start.",
    "BalanceExpectationEntry.until": "The end of the range. Default: `until` of the call.",
    "goal": "The ID of a goal, or a name that only one goal has.",
    "by": "An instant from the clock's start to `until` of the call.",
    "TotalExpectationEntry.category": "Counts only transactions with this category. Default: all transactions.",
    "per": (
        "The calendar period in UTC. Weeks start on Monday. Incomplete periods at both ends count only for `atMost`. "
        "`ALL` means one total for the whole range."
    ),
    "PostedExpectationEntry.name": "The name of the transactions.",
    "count": "The smallest number of transactions.",
    "ExpandEntry.text": "The scenario in TOML. The page Scenarios of the documentation describes the format.",
    "ExpandEntry.start": "The start of the clock. Default: the start in the text, or else the first day of this month.",
    "ExpandedScenario.expectations": "The expectations of the scenario, as in `checkTestClock`.",
    "format": "The format of the file.",
    "ExportEntry.pending": "Whether to include transactions after the clock's `frozenTime`.",
    "fileName": "A name for the file: the clock's ID with the extension of the format.",
    "mediaType": "The media type of the file. Its charset is UTF-8.",
    "ExportedClock.text": "The content of the file.",
    "CreateAccessTokenEntry.name": "Your own name for the token, such as the program that uses it.",
    "expiresInDays": "The number of days until the token expires.",
    "readOnly": "Whether the token can call only operations that change nothing.",
    "RevokeAccessTokenEntry.id": "The ID of one of your access tokens.",
    "LinkEntry.token": "The text after `#token=` in the link.",
    # Results
    "Snapshot.transactions": "Transactions at or before `frozenTime`, in order of time.",
    "Snapshot.pendingTransactions": "Transactions after `frozenTime`, in order of time.",
    "Snapshot.goals": "Goals, in the order in which they were added.",
    "Transaction.id": "Opaque; starts with `txn_`.",
    "Transaction.category": "The category of the request, if it had one.",
    "Goal.id": "Opaque; starts with `goal_`.",
    "Goal.targetAmount": "The amount to save.",
    "Goal.initialAmount": "The amount before the first contribution. Only with `details`.",
    "Goal.currentAmount": "The initial amount plus all posted contributions.",
    "Goal.remainingAmount": "`targetAmount` minus `currentAmount`. Negative if the goal is overfunded.",
    "Goal.progressPercent": (
        "`currentAmount` as a percentage of `targetAmount`, with at most two decimals. 100 or more only if the target "
        "is reached."
    ),
    "Goal.contributions": "Posted contributions, at or before `frozenTime`, in order of time.",
    "Goal.upcomingContributions": "Contributions after `frozenTime`, in order of time.",
    "Contribution.id": "Opaque; starts with `ctb_`.",
    "ClockPage.clocks": "Newest first.",
    "ClockPage.nextCursor": "The cursor of the next page. The last page has none.",
    "Event.id": "Derived from the item's ID, so it never changes. Starts with `evt_`.",
    "Event.at": "The instant of the event.",
    "Event.type": "What happened.",
    "Event.pending": "True if the event is after the clock's `frozenTime`; omitted otherwise.",
    "Event.balance": "For `transaction.posted`: the balance of its currency after it and all transactions before it.",
    "Event.goalId": "For `contribution.posted` and `goal.reached`: the goal's ID.",
    "Event.currentAmount": "For `contribution.posted`: the goal's amount after it.",
    "EventPage.events": "In order of time.",
    "EventPage.nextCursor": "The cursor of the next page. The last page has none.",
    "Balances.at": "The instant of the balances.",
    "Balances.balances": "One for each currency, sorted by currency.",
    "opening": "The opening balance, with the transactions that are opening balances.",
    "income": "The sum of all income up to the instant.",
    "expense": "The sum of all expenses up to the instant.",
    "balance": "The opening balance plus income minus expenses.",
    "BalancePoint.at": "The earliest instant with this balance. The opening balance counts as the clock's start.",
    "CheckResult.ok": "Whether all expectations hold.",
    "CheckResult.until": "The end of the check.",
    "results": "One for each expectation, in the order of the request.",
    "ok": "Whether the expectation holds.",
    "Violation.at": (
        "When the expectation is first violated: for `goalReached` and `posted`, `by`; for a total below `atLeast`, "
        "the last microsecond of the period."
    ),
    "Violation.message": "The violation in words.",
    "actual": "The balance, total, amount or count.",
    "Violation.itemIds": "The IDs of the transactions or contributions that the actual value depends on.",
    "TokenInfo.type": "`SESSION`: a token from a sign-in. `ACCESS`: an access token.",
    "TokenInfo.expiresAt": "The real time at which the token expires.",
    "CreatedAccessToken.id": "The token's ID, which isn't secret. It starts with `token_`.",
    "CreatedAccessToken.token": "The bearer token. It starts with `tka_`.",
    "CreatedAccessToken.name": "The name of the request.",
    "CreatedAccessToken.expiresAt": "The real time at which the token expires.",
    "AccessToken.id": "The token's ID, which isn't secret. It starts with `token_`.",
    "AccessToken.name": "Your own name for the token.",
    "createdAt": "The real time at which the token was created.",
    "AccessToken.expiresAt": "The real time at which the token expires.",
    "lastUsedOn": "The last day in UTC on which the token was used. Omitted if it was never used.",
    "AccessTokens.tokens": "Newest first.",
    "Sent.loginUrl": "The link. Only for `WEB_LOGIN_LINK`, and only if emails go to the development outbox.",
    "SignedIn.token": f"The bearer token. It starts with `tko_` and is valid for {limits.TOKEN_LIFETIME.days} days.",
    "userId": "Your user ID, the same at every sign-in. Opaque; starts with `user_`.",
    # Errors
    "Fault.path": "The field: names joined by dots, and indexes from 0 in brackets. `params` means all parameters.",
    "Fault.rule": "The violated rule, for programs.",
    "Fault.message": "The rule in words, for people.",
    "Fault.line": "The line of an invalid scenario, from 1.",
    "Fault.got": "The invalid value, if it is short and not a secret.",
    "reason": "The name that programs should match on.",
    "itemIds": "The IDs of the items that have already happened.",
    "currentFrozenTime": "The clock's current simulated time.",
    "retryAfterSeconds": "Retry the call after this many seconds.",
    "requestId": "Report this ID with the bug. It is also in the header `X-Request-Id`.",
    "errors": "All invalid fields. Their order may change.",
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
