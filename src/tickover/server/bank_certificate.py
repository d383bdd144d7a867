"""The bank's certificate for the host names of real banks, which is made at the first start.

An authority signs it, and its private key is never stored. So nobody can sign another one, and even that would only be
valid for these names.
"""

import os
import ssl
from pathlib import Path
from typing import Final

from msgspec import Struct

from tickover.server.bank.bank_names import PREFIXES
from tickover.server.logs import Log
from tickover.server.private_files import PrivateFile
from tickover.server.settings import SettingError, Settings

_SYSTEM_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, Alpine
)


class CertificateFiles(Struct, frozen=True):
    """The files in a data folder."""

    folder: Path

    @property
    def key(self) -> PrivateFile:
        """The private key, and the certificates of the bank and of the authority."""
        return PrivateFile(self.folder / "server.pem", "key of the bank's certificate")

    @property
    def authority(self) -> Path:
        return self.folder / "authority.pem"

    @property
    def bundle(self) -> Path:
        """The system's authorities and this one, for programs that can only replace their list."""
        return self.folder / "bundle.pem"


def load_certificate(settings: Settings, log: Log) -> ssl.SSLContext:
    """Return the TLS settings of the server. Raise SettingError if a file is unsafe or unusable."""
    files = open_certificates(settings, log)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.key.path)
    except ssl.SSLError:
        raise _damaged(files) from None
    return context


def open_certificates(settings: Settings, log: Log) -> CertificateFiles:
    """Return the files, which the first call creates. Raise SettingError if one is unsafe or unusable."""
    files = CertificateFiles(settings.data_dir.absolute() / "bank")
    try:
        # Programs of other users may read the certificates, also in a volume that has this folder alone.
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.folder.mkdir(exist_ok=True)
        if not files.key.path.exists():
            files.folder.chmod(0o755)
            # Imported here because it takes long, and only the first start needs it.
            from tickover.server.certificate_authority import make_certificate

            files.key.create(make_certificate(PREFIXES))
        authority = _find_authority(files.key.read(log).decode("ascii"))
        if not authority:
            raise _damaged(files)
        _publish(files.authority, authority)
        _publish(files.bundle, f"{_read_system_authorities(files.bundle)}\n{authority}")
    except UnicodeDecodeError:
        raise _damaged(files) from None
    except OSError as error:
        raise SettingError(
            f"Can't use the bank's certificates in {files.folder}: {error.strerror}. "
            "They need a TICKOVER_DATA_DIR that you can write to."
        ) from None
    return files


def _damaged(files: CertificateFiles) -> SettingError:
    return SettingError(
        f"The bank's certificate {files.key.path} is damaged. Delete the file. The next start creates a new authority, "
        "which your programs have to trust instead."
    )


def _find_authority(pem: str) -> str:
    """Return the last of two certificates, or an empty string."""
    start = "-----BEGIN CERTIFICATE-----"
    parts = pem.split(start)
    return start + parts[2] if len(parts) == 3 else ""


def _publish(path: Path, content: str) -> None:
    """Write a file that all users may read, unless it has this content."""
    from tempfile import NamedTemporaryFile

    if path.exists() and path.read_text("utf-8") == content:
        return
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        file.write(content)
        os.fchmod(file.fileno(), 0o644)
    Path(file.name).replace(path)


def _read_system_authorities(own_bundle: Path) -> str:
    """Return the certificates that programs trust without this bundle."""
    paths = ssl.get_default_verify_paths()
    chosen = os.environ.get(paths.openssl_cafile_env, "")
    # In a shell with the output of `tickover bank env`, this names the bundle itself.
    candidates = [chosen if chosen and Path(chosen) != own_bundle else "", paths.openssl_cafile, *_SYSTEM_BUNDLES]
    for candidate in candidates:
        if candidate and Path(candidate).is_file():
            return Path(candidate).read_text("utf-8", errors="ignore")
    return ""
