"""A certificate authority for tests, and a log."""

import ssl
from pathlib import Path

import pytest
import trustme

from tests.support.log_capture import LogCapture


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """The authority, trusted by this process through SSL_CERT_FILE."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    return authority


def server_side(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """Return the TLS context of a server with a certificate for these names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()
