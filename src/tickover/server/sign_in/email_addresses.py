"""Parses email addresses into one canonical form."""

import re
import string
import unicodedata
from typing import Final

from tickover.api.limits import MAX_EMAIL, MAX_EMAIL_LABEL, MAX_EMAIL_LOCAL


class EmailAddress(str):
    """An address in canonical form: ASCII letters in lower case, the domain in IDNA form."""

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> "EmailAddress":
        """Return the canonical form of one address. Raise ValueError for anything else.

        Makes no DNS lookup and accepts special-use domains. In the local part, only ASCII case and redundant quotes
        change: `a.b+c@x` and `ab@x` may be two people.
        """
        if not isinstance(text, str):
            raise ValueError("must be a string")
        # Check the length first: the other checks are slow on long text.
        if _size(text) > MAX_EMAIL:
            raise ValueError(f"must be at most {MAX_EMAIL} bytes in UTF-8")
        return EmailAddress(text) if _PLAIN.fullmatch(text) else _parse_any(text)

    @staticmethod
    def parse_plain(text: object) -> "EmailAddress":
        """Return a plain address, the usual case. Raise ValueError for any other text, valid or not."""
        if isinstance(text, str) and len(text) <= MAX_EMAIL and _PLAIN.fullmatch(text):
            return EmailAddress(text)
        raise ValueError("is not a plain address")


def _size(text: str) -> int:
    """Return the size of a text in UTF-8, or a lower bound that exceeds every limit."""
    return len(text) if len(text) > MAX_EMAIL else len(text.encode("utf-8", "surrogatepass"))


# A plain address is valid and already canonical.
_PLAIN_LABEL: Final = "(?=[a-z0-9-]{1,63}[.])[a-z0-9]+(?:-[a-z0-9]+)*[.]"
_PLAIN: Final = re.compile(
    rf"(?=[^@]{{1,64}}@)[a-z0-9]+(?:[._+-][a-z0-9]+)*@(?:localhost|(?=.{{1,253}}$)(?:{_PLAIN_LABEL})+[a-z]{{2,63}})"
)


def _parse_any(text: str) -> EmailAddress:
    raw_local, _, domain = text.rpartition("@")
    local = _canonical_local(raw_local)
    if local is None or not _may_be_domain(domain):
        raise _invalid_address()
    # Few addresses need the library, and importing it takes long.
    import email_validator

    # The documented way to accept `.test`, `localhost` and other special-use domains.
    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    try:
        validated = email_validator.validate_email(
            f"{local}@{domain}",
            strict=True,
            check_deliverability=False,
            globally_deliverable=False,
            allow_quoted_local=True,
            allow_domain_literal=False,
        )
    except email_validator.EmailNotValidError:
        raise _invalid_address() from None
    # Check the result again, because the library has accepted unsafe addresses before.
    address = f"{local}@{validated.ascii_domain}"
    if not re.fullmatch(_DOMAIN, validated.ascii_domain) or _size(address) > MAX_EMAIL:
        raise _invalid_address()
    return EmailAddress(address)


def _may_be_domain(text: str) -> bool:
    """Return False for long text, for which the library takes milliseconds."""
    is_short = all(len(label) <= MAX_EMAIL_LABEL for label in text.split("."))
    # Normalization can replace one character with eighteen.
    return is_short and len(unicodedata.normalize("NFKC", text)) <= MAX_EMAIL


def _invalid_address() -> ValueError:
    return ValueError("must be one email address, such as ana@example.com")


# These patterns are compiled at their first use, because that takes long and most addresses are plain.

# A name in ASCII. The last label must not be a number, because programs read such names as IP addresses.
_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = rf"(?:{_LABEL}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)\Z){_LABEL}"

_ASCII_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_ATOM: Final = "[a-z0-9!#$%&'*+/=?^_`{|}~\\-\u0080-\U0010ffff]+"
_DOT_ATOM: Final = rf"{_ATOM}(?:\.{_ATOM})*"
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)+)"', re.DOTALL)
_ONLY_IN_QUOTES: Final = re.compile(r'[ "(),:;<>@\[\\\]]')
_VISIBLE: Final = frozenset("LMNPS")
"""First characters of allowed Unicode categories: L, M, N, P and S."""
_INVISIBLE: Final = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point, whatever the category, and the blank Braille pattern U+2800."""


def _canonical_local(text: str) -> str | None:
    """Return the local part without redundant quotes and backslashes, or None if it is invalid.

    Otherwise one mailbox would have any number of addresses, each with its own rate limits.
    """
    if _size(text) > MAX_EMAIL_LOCAL:
        return None
    lower = text.translate(_ASCII_LOWER)
    quoted = _QUOTED.fullmatch(lower)
    content = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL) if quoted else lower
    if not all(map(_is_allowed, content)):
        return None
    if re.fullmatch(_DOT_ATOM, content):
        return content
    return '"' + re.sub(r'(["\\])', r"\\\1", content) + '"' if quoted else None


def _is_allowed(character: str) -> bool:
    """Return whether a character may be in a local part, quoted or not.

    Control, format and invisible characters are not allowed, nor is a blank other than the ASCII space. A mail server
    may normalize the address, so characters such as a full-width `<` or `"` are not allowed either.
    """
    if character.isascii():
        return character.isprintable()
    if unicodedata.category(character)[0] not in _VISIBLE or re.match(_INVISIBLE, character):
        return False
    return not _ONLY_IN_QUOTES.search(unicodedata.normalize("NFKC", character))
