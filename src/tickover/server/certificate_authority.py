"""Makes a certificate for host names, signed by an authority that can't sign another one."""

from collections.abc import Iterable
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Programs under test may live in another time.
_VALID_FROM: Final = datetime(2000, 1, 1, tzinfo=UTC)
_VALID_UNTIL: Final = datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC)
_PEM: Final = serialization.Encoding.PEM


def make_certificate(hosts: Iterable[str]) -> str:
    """Return as PEM: a private key, its certificate, and the certificate of the authority, whose key is forgotten."""
    names = [x509.DNSName(host) for host in hosts]
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    # Programs tell authorities apart by their names.
    authority = _name(f"Tickover bank authority {x509.random_serial_number():x}"[:50])
    addresses = [x509.IPAddress(ip_network(network)) for network in ("0.0.0.0/0", "::/0")]
    signing = (
        _certificate(authority, authority_key.public_key(), authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(is_authority=True), critical=True)
        .add_extension(x509.NameConstraints(names, addresses), critical=True)
    )
    serving = (
        _certificate(_name("Tickover bank"), key.public_key(), authority_key, authority)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(is_authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    private = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificates = [builder.sign(authority_key, hashes.SHA256()).public_bytes(_PEM) for builder in (serving, signing)]
    return b"".join([private, *certificates]).decode("ascii")


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    authority_key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name | None = None,
) -> x509.CertificateBuilder:
    issuing = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        x509.CertificateBuilder(issuer or subject, subject, key, x509.random_serial_number(), _VALID_FROM, _VALID_UNTIL)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(issuing, critical=False)
    )


def _key_usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
