"""The SMTP mailer with SMTP servers on loopback: URLs, commands, connections, errors, TLS and credentials."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import trustme
from aiosmtpd.smtp import SMTP, LoginPassword

from tests.rpc.mail.conftest import server_side
from tests.support.emails import NOW, SENDER, make_email
from tests.support.log_capture import LogCapture
from tests.support.mail_servers import MailServer, Misbehaviour, hang_up, mail_server, reply_with
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail import open_mailer
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind, MailOutcomeUnknown, MailRejected
from tickover.server.sign_in.mail.smtp import SmtpMailer


@pytest.fixture
async def server() -> AsyncIterator[MailServer]:
    """A server with all extensions except TLS."""
    async with mail_server(enable_SMTPUTF8=True, auth_require_tls=False) as running:
        yield running


@pytest.fixture
def mailer(server: MailServer, logged: LogCapture) -> SmtpMailer:
    return SmtpMailer(f"smtp://{server.address}", Composer(SENDER), logged.log)


# Accepted emails


async def test_email_arrives_completely(server: MailServer, mailer: SmtpMailer, logged: LogCapture) -> None:
    await mailer.deliver(make_email())
    [arrived] = server.emails
    assert arrived.message["To"] == "ana@example.test"
    assert arrived.message["Subject"] == "012345 is your Tickover code"
    assert "012345" in arrived.text()
    assert "012345" in arrived.text("html")
    assert server.said[1:] == ["MAIL FROM:<tickover@example.test>", "RCPT TO:<ana@example.test>", "DATA", "QUIT"]
    assert logged.lines == []


async def test_check_connects_and_sends_nothing(server: MailServer, mailer: SmtpMailer) -> None:
    await mailer.check()
    assert server.said[1:] == ["MAIL FROM:<tickover@example.test>", "QUIT"]
    assert server.emails == []


async def test_concurrent_emails_reach_their_own_addresses(server: MailServer, mailer: SmtpMailer) -> None:
    emails = [make_email(f"user-{number}@example.test", secret=f"{number:06}") for number in range(20)]
    await asyncio.gather(*map(mailer.deliver, emails))
    arrived = {str(arrived.message["To"]): arrived.code for arrived in server.emails}
    assert arrived == {sent.to: sent.secret for sent in emails}


@pytest.mark.parametrize(
    "address",
    [
        '"two  spaces "@example.test',
        '"> size=1"@example.test',
        '"back\\\\slash"@example.test',
        f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 58}.x",
    ],
)
async def test_recipient_is_sent_verbatim(server: MailServer, mailer: SmtpMailer, address: str) -> None:
    await mailer.deliver(make_email(address))
    assert f"RCPT TO:<{address}>" in server.said
    assert len(server.emails) == 1


@pytest.mark.parametrize("address", ['"ä ä"@example.test', "用户@example.test"])
async def test_address_that_is_not_ascii_uses_smtputf8(server: MailServer, mailer: SmtpMailer, address: str) -> None:
    await mailer.deliver(make_email(address))
    assert server.said[1:3] == ["MAIL FROM:<tickover@example.test> SMTPUTF8", f"RCPT TO:<{address}>"]
    [arrived] = server.emails
    # Python's parser doesn't read UTF-8 headers.
    assert arrived.content.startswith(f"To: {address}\r\n".encode())
    assert f"It signs you in as {address}." in arrived.text()


async def test_server_without_smtputf8_gets_no_utf8_address(logged: LogCapture) -> None:
    async with mail_server() as server:
        mailer = SmtpMailer(f"smtp://{server.address}", Composer(SENDER), logged.log)
        with pytest.raises(MailRejected):
            await mailer.deliver(make_email("änä@example.test"))
        assert server.emails == []
        assert all(line.isascii() for line in server.said)


async def _accept_and_forward(server: SMTP) -> None:
    assert server.envelope is not None
    server.envelope.rcpt_tos.append("ana@example.test")
    await server.push("251 User not local; will forward")


@pytest.mark.parametrize(
    ("command", "behaviour"),
    [("RCPT", _accept_and_forward), ("QUIT", hang_up), ("QUIT", reply_with("451 no")), ("QUIT", reply_with("bye"))],
)
async def test_unusual_response_rejects_no_accepted_email(
    server: MailServer, mailer: SmtpMailer, command: str, behaviour: Misbehaviour
) -> None:
    server.instead[command] = behaviour
    await mailer.deliver(make_email())
    assert len(server.emails) == 1


# Failures


@pytest.mark.parametrize(
    ("command", "misbehaviour"),
    [
        ("connect", hang_up),
        ("MAIL", reply_with("451 later")),
        ("RCPT", reply_with("550 <ana@example.test>: 012345 no such user")),
        ("RCPT", hang_up),
        (MailServer.END_OF_DATA, reply_with("451 later")),
    ],
)
async def test_email_that_was_not_accepted_raises_mail_rejected(
    server: MailServer, mailer: SmtpMailer, logged: LogCapture, command: str, misbehaviour: Misbehaviour
) -> None:
    server.instead[command] = misbehaviour
    with pytest.raises(MailRejected):
        await mailer.deliver(make_email())
    assert len(logged.lines) == 1
    assert not any(secret in str(logged.lines) for secret in ("ana@example.test", "012345"))


@pytest.mark.parametrize("misbehaviour", [hang_up, reply_with("25"), reply_with("OK 250")])
async def test_missing_or_malformed_response_to_data_raises_outcome_unknown(
    server: MailServer, mailer: SmtpMailer, misbehaviour: Misbehaviour
) -> None:
    server.instead[MailServer.END_OF_DATA] = misbehaviour
    with pytest.raises(MailOutcomeUnknown):
        await mailer.deliver(make_email())


async def test_unreachable_server_raises_mail_rejected(logged: LogCapture) -> None:
    with socket.socket() as taken:  # The port is bound, but not open.
        taken.bind(("127.0.0.1", 0))
        mailer = SmtpMailer(f"smtp://127.0.0.1:{taken.getsockname()[1]}", Composer(SENDER), logged.log)
        with pytest.raises(MailRejected):
            await mailer.deliver(make_email())
    [(_, event, fields)] = logged.lines
    assert event == "the mail server doesn't respond"
    assert fields["cause"] == "ConnectionRefusedError"


# TLS

_LOCAL = ("localhost", "127.0.0.1")


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_email_is_sent_over_tls(trusted: trustme.CA, logged: LogCapture, scheme: str) -> None:
    context = server_side(trusted, *_LOCAL)
    options = {"tls": context} if scheme == "smtps" else {"tls_context": context}
    async with mail_server(**options) as server:
        await SmtpMailer(f"{scheme}://{server.address}", Composer(SENDER), logged.log).deliver(make_email())
        assert [arrived.over_tls for arrived in server.emails] == [True]


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
@pytest.mark.parametrize("fault", ["untrusted", "another name"])
async def test_invalid_certificate_is_rejected(
    request: pytest.FixtureRequest, logged: LogCapture, fault: str, scheme: str
) -> None:
    authority = request.getfixturevalue("authority" if fault == "untrusted" else "trusted")
    context = server_side(authority, *(_LOCAL if fault == "untrusted" else ("mail.elsewhere.test",)))
    options = {"tls": context} if scheme == "smtps" else {"tls_context": context}
    async with mail_server(**options) as server:
        with pytest.raises(MailRejected):
            await SmtpMailer(f"{scheme}://{server.address}", Composer(SENDER), logged.log).deliver(make_email())
        assert server.emails == []
    [(_, _, fields)] = logged.lines
    assert fields["cause"] == "SSLCertVerificationError"
    assert "certificate verify failed" in fields["error"]


# Credentials


@pytest.mark.parametrize(
    ("user", "password"),
    [
        pytest.param("ana", "secret", id="plain"),
        pytest.param("ana@example.test", "p@ss:w/rd?#%+ []", id="characters that a URL must encode"),
        pytest.param("änä", "pässwörd", id="not ASCII"),
    ],
)
async def test_credentials_in_the_url_are_used(
    server: MailServer, logged: LogCapture, user: str, password: str
) -> None:
    server.login = LoginPassword(user.encode(), password.encode())
    url = f"smtp://{quote(user, safe='')}:{quote(password, safe='')}@{server.address}"
    await SmtpMailer(url, Composer(SENDER), logged.log).deliver(make_email())
    assert [arrived.login for arrived in server.emails] == [server.login]


@pytest.mark.parametrize("login", ["ana:wrong", "ana"])
async def test_wrong_credentials_raise_mail_rejected(server: MailServer, logged: LogCapture, login: str) -> None:
    server.login = LoginPassword(b"ana", b"secret")
    with pytest.raises(MailRejected):
        await SmtpMailer(f"smtp://{login}@{server.address}", Composer(SENDER), logged.log).deliver(make_email())
    assert server.emails == []
    assert "secret" not in str(logged.lines)


async def test_password_is_never_sent_without_tls(server: MailServer, logged: LogCapture) -> None:
    """The mailer doesn't recognize 127.1 as loopback, so it represents a remote server."""
    server.login = LoginPassword(b"ana", b"secret")
    mailer = SmtpMailer(f"smtp://ana:secret@127.1:{server.port}", Composer(SENDER), logged.log)
    with pytest.raises(MailRejected):
        await mailer.deliver(make_email())
    assert [line.split()[0] for line in server.said] == ["EHLO"]


# Second defence: the parser rejects such addresses first.


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("a@b.test>\r\nRCPT TO:<eve@b.test", id="CR LF"),
        pytest.param("a\u2028@b.test", id="line separator"),
    ],
)
async def test_address_with_a_control_character_never_reaches_the_server(
    server: MailServer, mailer: SmtpMailer, address: str
) -> None:
    with pytest.raises(ValueError, match="control character"):
        await mailer.deliver(Email(address, EmailKind.CODE, "012345", 10, NOW))
    assert server.said == []


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "",
        "outbox:elsewhere",
        "http://mail.example.test",
        "smtp://user:password@",
        "smtp://mail.example.test:0",
        "smtp://mail.example.test?tls=no",
        "smtp://user:p#ss@mail.example.test",
    ],
)
def test_invalid_url_is_rejected(tmp_path: Path, logged: LogCapture, url: str) -> None:
    with pytest.raises(SettingError, match="TICKOVER_MAIL_URL") as refused:
        open_mailer(url, SENDER, tmp_path / "outbox", logged.log)
    assert "p#ss" not in str(refused.value)
