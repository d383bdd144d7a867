"""The certificate of the bank's own names: what it is valid for, its files, and unusable ones."""

import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.log_capture import LogCapture
from tickover.server.bank.bank_names import PREFIXES, find_path
from tickover.server.bank_certificate import CertificateFiles, load_certificate, open_certificates
from tickover.server.certificate_authority import make_certificate
from tickover.server.settings import SettingError, read_settings

_PRIVATE_KEY = "PRIVATE KEY"
_ADVICE = "They need a TICKOVER_DATA_DIR that you can write to."


def open_files(data: Path) -> CertificateFiles:
    return open_certificates(read_settings({"TICKOVER_DATA_DIR": str(data)}, {}), LogCapture().log)


def setting_error(data: Path) -> str:
    with pytest.raises(SettingError) as error:
        load_certificate(read_settings({"TICKOVER_DATA_DIR": str(data)}, {}), LogCapture().log)
    assert str(error.value).isprintable()
    return str(error.value)


def test_authority_is_valid_for_the_names_alone() -> None:
    certificate, authority = x509.load_pem_x509_certificates(make_certificate(PREFIXES).encode())
    constraints = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    assert {name.value for name in constraints.value.permitted_subtrees or ()} == set(PREFIXES)
    assert [str(name.value) for name in constraints.value.excluded_subtrees or ()] == ["0.0.0.0/0", "::/0"]
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == set(PREFIXES)
    for signed in (certificate, authority):
        signed.verify_directly_issued_by(authority)
        assert signed.not_valid_before_utc == datetime(2000, 1, 1, tzinfo=UTC)
        assert signed.not_valid_after_utc.year == 2099


@pytest.mark.parametrize(
    ("host", "is_valid"), [("sandbox.plaid.com", True), ("localhost", True), ("example.com", False)]
)
def test_strict_programs_trust_the_certificate(tmp_path: Path, host: str, is_valid: bool) -> None:
    files = open_files(tmp_path)
    server = load_certificate(read_settings({"TICKOVER_DATA_DIR": str(tmp_path)}, {}), LogCapture().log)
    client = ssl.create_default_context(cafile=files.authority)
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    with nullcontext() if host in PREFIXES else pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        for end in (*ends, *ends):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()


def test_first_start_makes_files_that_later_starts_use(tmp_path: Path) -> None:
    files = open_files(tmp_path / "data")
    found = {path: path.read_bytes() for path in files.folder.iterdir()}
    assert {path.name: path.stat().st_mode & 0o777 for path in found} == {
        "server.pem": 0o600, "authority.pem": 0o644, "bundle.pem": 0o644,
    }  # fmt: skip
    assert files.folder.stat().st_mode & 0o777 == 0o755
    assert [path.name for path, content in found.items() if _PRIVATE_KEY.encode() in content] == ["server.pem"]
    assert found[files.key.path].count(_PRIVATE_KEY.encode()) == 2, "the authority's key is in no file"
    assert found[files.bundle].endswith(found[files.authority])
    open_files(tmp_path / "data")
    assert {path: path.read_bytes() for path in files.folder.iterdir()} == found


def test_bundle_has_the_authorities_that_programs_trusted_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "company.pem").write_text("the company's authority\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "company.pem"))
    files = open_files(tmp_path / "data")
    assert files.bundle.read_text().startswith("the company's authority\n")
    # After `eval "$(tickover bank env)"`, the variable names the bundle itself.
    monkeypatch.setenv("SSL_CERT_FILE", str(files.bundle))
    assert open_files(tmp_path / "data").bundle.read_text().count(files.authority.read_text()) == 1


def test_concurrent_first_starts_share_one_certificate(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        authorities = {files.authority.read_text() for files in threads.map(open_files, [tmp_path / "data"] * 8)}
    assert len(authorities) == 1


def test_unusable_files_are_one_error(tmp_path: Path) -> None:
    files = open_files(tmp_path / "data")
    whole = files.key.path.read_text()
    other = make_certificate(PREFIXES)
    of_another = other[: other.index("-----END")] + whole[whole.index("-----END") :]
    for damaged in ("", "\udcff", whole[:900], whole.replace("MI", "XX"), of_another):
        files.key.path.write_text(damaged, errors="surrogateescape")
        assert f"{files.key.path} is damaged. Delete the file." in setting_error(tmp_path / "data")
    files.key.path.unlink()
    files.key.path.mkdir()
    assert setting_error(tmp_path / "data").endswith(f"Is a directory. {_ADVICE}")
    (tmp_path / "file").touch()
    assert _ADVICE in setting_error(tmp_path / "file")


@pytest.mark.parametrize(
    ("host", "path", "found"),
    [
        ("sandbox.plaid.com", "/item/get", "/plaid/item/get"),
        ("sandbox.plaid.com", "/rpc", "/plaid/rpc"),
        ("bridge.simplefin.org", "/simplefin/info", "/simplefin/info"),
        ("bridge.simplefin.org", "/plaid/item/get", ""),
        ("localhost", "/plaid/item/get", "/plaid/item/get"),
        ("127.0.0.1", "/plaid/item/get", ""),
        ("", "/plaid/item/get", ""),
    ],
)
def test_host_chooses_the_protocol(host: str, path: str, found: str) -> None:
    assert find_path(host, path) == found
