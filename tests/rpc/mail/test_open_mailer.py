"""TICKOVER_MAIL_URL: mailers, ports and invalid URLs."""

from pathlib import Path

import pytest

from tests.support.emails import SENDER
from tests.support.log_capture import LogCapture
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail import open_mailer
from tickover.server.sign_in.mail.smtp import SmtpMailer


@pytest.mark.parametrize(("scheme", "port"), [("smtp", 587), ("smtps", 465)])
def test_default_port_depends_on_the_scheme(logged: LogCapture, scheme: str, port: int) -> None:
    mailer = open_mailer(f"{scheme}://mail.example.test", SENDER, Path("unused"), logged.log)
    assert isinstance(mailer, SmtpMailer)
    assert mailer._new_connection().port == port


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
