from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Final, Literal

from tickover.api.access_tokens import Sent
from tickover.api.errors import Fault, Reason, Rejection
from tickover.api.fields import Params, doc
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Services
from tickover.server.sign_in import tokens
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.login_emails import LIFETIMES, LoginEmail, SecretKind
from tickover.server.sign_in.mail.mailer import Email, EmailKind, Mailer, MailOutcomeUnknown, MailRejected
from tickover.server.sign_in.resend_limits import TooSoon

Address = Annotated[EmailAddress, doc("One email address.")]
_REQUIRED_CODE_TYPE: Final = {"WEB_LOGIN_LINK": "LONG_LIVED", "LOGIN_CODE": "SHORT_LIVED"}


class SendEntry(Params, frozen=True):
    email: Address
    login_code_type: Annotated[
        Literal["SHORT_LIVED", "LONG_LIVED"],
        doc("How long the code or link is valid: minutes for a code, an hour for a link. See `emailType`."),
    ]
    email_type: Annotated[Literal["LOGIN_CODE", "WEB_LOGIN_LINK"], doc("What the email contains: a code or a link.")]

    def faults(self, now: Instant) -> Iterator[Fault]:
        if self.email_type is None or self.login_code_type is None:
            return
        required = _REQUIRED_CODE_TYPE[self.email_type]
        if self.login_code_type != required:
            message = f"must be {required} when emailType is {self.email_type}"
            yield Fault("loginCodeType", "combination", message, self.login_code_type)

    @property
    def kind(self) -> SecretKind:
        return SecretKind.CODE if self.email_type == "LOGIN_CODE" else SecretKind.LINK


@Operation(
    "sendLoginCodeEmail",
    Sent,
    needs=None,
    is_core=True,
    limited_per_client=True,
    reasons=(Reason.RESEND_TOO_SOON, Reason.MAIL_NOT_SENT),
    examples={
        "A code": {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"},
        "A link": {"email": "bo@example.test", "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"},
    },
)
async def send_login_code_email(params: SendEntry, caller: Caller, services: Services) -> Sent:
    """Email a six-digit code or a login link.

    `LOGIN_CODE` requires `SHORT_LIVED` and sends a code. `WEB_LOGIN_LINK` requires `LONG_LIVED` and sends a link. By
    default, an address can receive one email every {RESEND_INTERVAL.seconds} seconds. The response arrives after the
    mail server has accepted the email. It is the same for known and unknown addresses.
    """
    services.check_allowed(params.email)
    mint, settings = services.mint, services.settings
    is_code = params.kind is SecretKind.CODE
    fixed_code = settings.test_codes.get(params.email.rpartition("@")[2]) if is_code else None
    secret = fixed_code or (mint.new_code() if is_code else mint.new_secret())
    digest = mint.code_digest(params.email, caller.now, secret) if is_code else tokens.digest(secret)
    network = mint.network_digest(caller.network)
    record = LoginEmail(digest, params.email, params.kind, caller.now, network, is_mailed=fixed_code is None)
    outcome = await services.store.record_email(record, services.limits_of(params.email))
    if isinstance(outcome, TooSoon):
        raise _too_soon(outcome, caller.now, services.mailer)
    if not record.is_mailed:
        return Sent("ok")
    email = _compose(record, secret, settings.public_url, codes_stopped=outcome.codes_stopped)
    await _deliver(email, record, services)
    # With real mail, a loginUrl in the response would give the account to any caller.
    returns_link = email.kind is EmailKind.LINK and services.mailer.is_local
    return Sent("ok", email.secret) if returns_link else Sent("ok")


def _compose(record: LoginEmail, secret: str, public_url: str, *, codes_stopped: bool) -> Email:
    minutes = LIFETIMES[record.kind] // timedelta(minutes=1)
    if record.kind is SecretKind.LINK:
        return Email(record.address, EmailKind.LINK, f"{public_url}/login#token={secret}", minutes, record.sent_at)
    if codes_stopped:
        return Email(record.address, EmailKind.CODES_STOPPED, "", minutes, record.sent_at)
    return Email(record.address, EmailKind.CODE, secret, minutes, record.sent_at)


async def _deliver(email: Email, record: LoginEmail, services: Services) -> None:
    try:
        await services.mailer.deliver(email)
        return
    except MailRejected:
        await services.store.delete_email(record)
    except MailOutcomeUnknown:
        await services.store.allow_resend(record)
    raise Rejection(Reason.MAIL_NOT_SENT, "The mail server didn't accept the email. Try again.")


def _too_soon(too_soon: TooSoon, now: Instant, mailer: Mailer) -> Rejection:
    wait = too_soon.retry_after_seconds(now)
    if not too_soon.by_last_email:
        message = f"Too many emails were sent to this address. Try again in {wait} s."
        return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
    message = f"An email was just sent to this address. Try again in {wait} s."
    if mailer.is_local:
        message += (
            " To sign in more often at this development server, start it with TICKOVER_RESEND_SECONDS=1, or use an"
            " access token."
        )
    return Rejection(Reason.RESEND_TOO_SOON, message, {"retryAfterSeconds": wait})
