"""What people are told of operations, types, fields and reasons. The rules themselves are in the types."""

from typing import Final

from tickover.api.errors import Reason
from tickover.api.limits import (
    CODE_DIGITS,
    MAX_BATCH,
    MAX_BODY,
    MAX_IDEMPOTENCY_KEY,
    RESEND_INTERVAL,
    SPAN_YEARS,
    TOKEN_LIFETIME,
)

ABOUT: Final = (
    "Simulated money on a clock that you move, and signing in by e-mail: JSON-RPC 2.0 over `POST /rpc`, with "
    f"`Content-Type: application/json`. An array of up to {MAX_BATCH} calls is a batch, and a call without `id` is not "
    "answered.\n\n"
    "Parameters go by name. An unknown name is refused, and so is null: leave out what you do not want to say. No text "
    "may hold U+0000 or a lone surrogate, and lengths count Unicode code points. Timestamps are RFC 3339 with an "
    "offset; answers are in UTC. Ids, tokens and cursors are opaque.\n\n"
    "A refusal has a `code`, a `message` for people, and `data`, whose `reason` is the name for programs to match on. "
    "In the OpenRPC document, `data` of an error is the schema of what is answered. Answers may get further fields in "
    "later versions."
)

BEARER: Final = "Needs a token: send the header `Authorization: Bearer <token>`."
PUBLIC: Final = "Needs no token."
TAKES_KEY: Final = (
    f"With the header `Idempotency-Key`, of 1 to {MAX_IDEMPOTENCY_KEY} characters, the call may be made again: the "
    "same key with the same parameters answers with the same clock, as it is now, for as long as the clock lives; with "
    "other parameters it is refused. It goes with a single call, not with a batch."
)

TAGS: Final = {
    "extension": "Not one of the four operations of the interface, but added to them.",
    "token": BEARER,
}

METHODS: Final = {
    "createTestClock": (
        "The clock belongs to you and lives for seven days of real time. Every parameter may be left out. What is "
        "dated at exactly `frozenTime` has happened."
    ),
    "advanceTestClock": (
        "All that is dated at or before the new `frozenTime` has happened then. Advancing to where the clock stands "
        "changes nothing and gives the same answer, so a call whose answer was lost can be made again. Time does not "
        "go back; to rewind, fork."
    ),
    "sendLoginCodeEmail": (
        "`LOGIN_CODE` goes with `SHORT_LIVED`, and sends a code; `WEB_LOGIN_LINK` goes with `LONG_LIVED`, and sends a "
        f"link. An address gets one letter in {RESEND_INTERVAL.seconds} seconds, unless this server was told "
        "otherwise. The answer comes once the mail server has accepted the letter, and is the same whether or not the "
        "address is known."
    ),
    "loginByEmailVerification": (
        "A code signs in once, takes few tries, and is void when a newer one was sent. The first sign-in of an address "
        "creates its user. Whatever is wrong with a code, the answer is the same."
    ),
    "loginByEmailLink": (
        "This is what the page behind a login link does when its button is pressed. A link signs in once. Whatever is "
        "wrong with a link, the answer is the same."
    ),
    "logout": "Your other tokens stay good.",
    "getTestClock": "Nothing is moved, whatever instant is asked for.",
    "listTestClocks": "Clocks that have expired are not in it. What a page leaves out is on the one after its cursor.",
    "deleteTestClock": "It is gone at once, with all that was in it. Idempotency keys that led to it are free again.",
    "forkTestClock": (
        "The fork has ids of its own and lives for seven days from now; the original stays as it is. Forking at an "
        "earlier instant is how to rewind. Its `maxTime` is that of the original."
    ),
    "rpc.discover": "The same document as `GET /openrpc.json`.",
}

TYPES: Final = {
    # Where what the code says of a type is not for callers.
    "OneClock": "The clock, with all that is on it.",
    "ClockPage": "A page of the list.",
    "Done": "It was done.",
    "Sent": "The letter is on its way.",
    "SignedIn": "A bearer token, and whose it is.",
    "TransactionEntry": "Money that is to come in or go out at an instant.",
    "GoalEntry": "Something to save for.",
    "ContributionEntry": "Money that is to be put aside for a goal at an instant.",
}

FIELDS: Final = {
    # A name alone holds for every type that has no words of its own.
    "id": "The clock's id, which begins with `clock_`.",
    "at": "When it takes effect.",
    "name": "What it is called.",
    "amount": "How much.",
    "currency": "Three uppercase letters, such as `EUR`.",
    "type": "Whether money comes in or goes out.",
    "category": "A label of your own; it may be empty.",
    "source": "Tells simulated money from real.",
    "frozenTime": "The simulated now.",
    "maxTime": (
        f"Where simulated time ends: {SPAN_YEARS} years after the first `frozenTime` of the clock, or of the one that "
        "it was forked from."
    ),
    "expiresAt": "When the clock is deleted, in real time: seven days after its creation.",
    "status": "An advance is finished when it is answered, so there is nothing else to report.",
    "email": "Exactly one e-mail address.",
    "message": "Says that it was done.",
    # What is sent.
    "ScheduleEntry.frozenTime": (
        f"Where the clock starts: within {SPAN_YEARS} years of the real now, either way. Left out, it is the real now."
    ),
    "ScheduleEntry.transactions": "Money that comes in or goes out, in any order.",
    "ScheduleEntry.goals": "What is saved for.",
    "TransactionEntry.at": "When it takes effect: from `frozenTime` to `maxTime`, both included.",
    "ContributionEntry.at": "When it is put aside: from `frozenTime` to `maxTime`, both included.",
    "GoalEntry.targetAmount": "How much is needed.",
    "GoalEntry.initialAmount": "How much is there from the start; it must not exceed `targetAmount`.",
    "GoalEntry.contributions": "What is put aside, in any order.",
    "AdvanceEntry.frozenTime": "The new simulated now: from the clock's `frozenTime` to its `maxTime`, both included.",
    "GetEntry.at": (
        "Show the clock as it would be at this instant: from its `frozenTime` to its `maxTime`, both included. Left "
        "out, it is shown as it is."
    ),
    "ForkEntry.at": (
        "Where the fork stands: from the instant at which the original was first created to its `maxTime`, both "
        "included. Left out, it is that first instant."
    ),
    "limit": "How many clocks at most.",
    "cursor": "The `nextCursor` of the page before. Left out, the list begins with the newest clock.",
    "loginCodeType": "How long the letter is good: minutes with a code, an hour with a link. Goes with `emailType`.",
    "emailType": "What the letter carries: a code, or a link.",
    "code": f"The {CODE_DIGITS} digits in the letter, leading zeros included.",
    "authenticationMethod": "There is only this one.",
    "LinkEntry.token": "What stands behind `#token=` in the link.",
    # What is answered.
    "Snapshot.transactions": "Those at or before `frozenTime`, in order of time.",
    "Snapshot.pendingTransactions": "Those after `frozenTime`, in order of time.",
    "Snapshot.goals": "In the order given.",
    "Transaction.id": "Opaque; begins with `txn_`.",
    "Transaction.category": "As given; left out if it was left out.",
    "Goal.id": "Opaque; begins with `goal_`.",
    "Goal.targetAmount": "As given.",
    "Goal.currentAmount": "What was there from the start, and all posted contributions.",
    "Goal.remainingAmount": "`targetAmount` less `currentAmount`; below 0 once the goal is over-funded.",
    "Goal.progressPercent": "At most two decimals; 100 only when the target is reached, more when it is passed.",
    "Goal.contributions": "Those posted, at or before `frozenTime`, in order of time.",
    "Goal.upcomingContributions": "Those after `frozenTime`, in order of time.",
    "Contribution.id": "Opaque; begins with `ctb_`.",
    "ClockPage.clocks": "Newest first.",
    "ClockPage.nextCursor": "Where the next page begins. Left out on the last page.",
    "Sent.loginUrl": "The link, only for `WEB_LOGIN_LINK`, and only if mail goes to the development outbox.",
    "SignedIn.token": f"The bearer token, which begins with `tko_` and is good for {TOKEN_LIFETIME.days} days.",
    "SignedIn.userId": "Who you are, the same at every sign-in. Opaque; begins with `user_`.",
    # What is wrong.
    "Fault.path": "Where: names joined by dots, positions in brackets from 0; `params` for the whole.",
    "Fault.rule": "Which rule was broken, as a word for programs.",
    "Fault.message": "What would be right, for a person.",
    "Fault.got": "What came, as far as it is short and no secret.",
    "reason": "The name for programs to match on.",
    "currentFrozenTime": "Where the clock stands.",
    "retryAfterSeconds": "After so many seconds the call would be taken.",
    "requestId": "What to name when you report the fault; also in the header `X-Request-Id`.",
    "errors": "Every fault at once, in no promised order.",
}

REASONS: Final = {
    Reason.PARSE_ERROR: "The body is not JSON, not UTF-8, or nested more than 64 levels deep.",
    Reason.INVALID_REQUEST: (
        f"The body is JSON, but not a JSON-RPC 2.0 request; or a batch of none or of more than {MAX_BATCH} calls; or "
        "the server does not answer to this Host."
    ),
    Reason.METHOD_NOT_FOUND: "There is no operation of this name.",
    Reason.INVALID_PARAMS: "A parameter, or how two of them go together, is refused.",
    Reason.UNAUTHENTICATED: "The token is missing, malformed, unknown, expired or revoked.",
    Reason.CLOCK_NOT_FOUND: "You have no clock of this id: it never was, was deleted, or is someone else's.",
    Reason.CLOCK_EXPIRED: "The clock of this id has lived its seven days.",
    Reason.TIME_BEFORE_CURRENT: "The instant lies before the clock's `frozenTime`.",
    Reason.TIME_AFTER_MAX: "The instant lies after the clock's `maxTime`.",
    Reason.LOGIN_REFUSED: "The code or the link is wrong, used or too old; which, is not told.",
    Reason.RESEND_TOO_SOON: "A letter went to this address a moment ago.",
    Reason.RATE_LIMITED: "Your live clocks are too many or too large, or too many letters or calls came.",
    Reason.MAIL_NOT_SENT: "The mail server did not take the letter, or nobody knows whether it did.",
    Reason.UNAVAILABLE: "The database is away, too much is waiting, or the server is stopping.",
    Reason.INTERNAL: "A fault of ours. The server's log has more under the same request id.",
    Reason.METHOD_NOT_ALLOWED: "An HTTP method other than POST.",
    Reason.UNSUPPORTED_MEDIA_TYPE: "A content type other than JSON, or a charset other than UTF-8.",
    Reason.BODY_TOO_LARGE: f"The body has more than {MAX_BODY:,} bytes.",
}
