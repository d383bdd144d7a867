"""Email addresses: exactly one address, in one canonical form."""

import re
import string
import unicodedata
from typing import Final

import email_validator
from email_validator import EmailNotValidError, validate_email

from tickover.api.limits import MAX_EMAIL, MAX_EMAIL_LABEL, MAX_EMAIL_LOCAL

# The library's documented way to accept `.test`, `localhost` and other special-use domains.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


class EmailAddress(str):
    """An address as it is stored and mailed to: ASCII letters in lower case, the domain in IDNA form."""

    __slots__ = ()


def parse(text: object) -> EmailAddress:
    """Return the canonical form of one address. Raise ValueError for anything else.

    Nothing is looked up, and special-use domains are accepted. The local part is folded by ASCII case and needless
    quotes alone: `a.b+c@x` and `ab@x` may be two people.
    """
    if not isinstance(text, str):
        raise ValueError("must be a string")
    # Lengths come first: the checks after them are slow on long text.
    if _size(text) > MAX_EMAIL:
        raise ValueError(f"must be at most {MAX_EMAIL} bytes in UTF-8")
    return EmailAddress(text) if _PLAIN.fullmatch(text) else _parse_any(text)


def parse_plain(text: object) -> EmailAddress:
    """Return an address that is plain, like nearly all are. Raise ValueError for any other text, valid or not."""
    if isinstance(text, str) and len(text) <= MAX_EMAIL and _PLAIN.fullmatch(text):
        return EmailAddress(text)
    raise ValueError("is not a plain address")


def _size(text: str) -> int:
    """Return the bytes of a text in UTF-8, or a lower bound of them that is over every limit."""
    return len(text) if len(text) > MAX_EMAIL else len(text.encode("utf-8", "surrogatepass"))


# A plain address is valid, and is its own canonical form.
_PLAIN_LABEL: Final = "(?=[a-z0-9-]{1,63}[.])[a-z0-9]+(?:-[a-z0-9]+)*[.]"
_PLAIN: Final = re.compile(
    rf"(?=[^@]{{1,64}}@)[a-z0-9]+(?:[._+-][a-z0-9]+)*@(?=.{{1,253}}$)(?:{_PLAIN_LABEL})+[a-z]{{2,63}}"
)


def _parse_any(text: str) -> EmailAddress:
    given_local, _, given_domain = text.rpartition("@")
    local = _canonical_local(given_local)
    if local is None or not _may_be_a_domain(given_domain):
        raise _not_one_address()
    try:
        found = validate_email(
            f"{local}@{given_domain}",
            strict=True,
            check_deliverability=False,
            globally_deliverable=False,
            allow_quoted_local=True,
            allow_domain_literal=False,
        )
    except EmailNotValidError:
        raise _not_one_address() from None
    # The library's word is not enough: what is stored and mailed to is checked again, by rules of our own.
    address = f"{local}@{found.ascii_domain}"
    if not _DOMAIN.fullmatch(found.ascii_domain) or _size(address) > MAX_EMAIL:
        raise _not_one_address()
    return EmailAddress(address)


def _may_be_a_domain(given: str) -> bool:
    """Whether the library is worth asking: for long names it takes milliseconds to say no."""
    is_short = all(len(label) <= MAX_EMAIL_LABEL for label in given.split("."))
    # One character can stand for eighteen.
    return is_short and len(unicodedata.normalize("NFKC", given)) <= MAX_EMAIL


def _not_one_address() -> ValueError:
    return ValueError("must be one email address, such as ana@example.com")


# A name in ASCII. The last label is no number, because programs read such a name as an IP address.
_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)\Z){_LABEL}")

_ASCII_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_ATOM: Final = "[a-z0-9!#$%&'*+/=?^_`{|}~\\-\u0080-\U0010ffff]+"
_DOT_ATOM: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)+)"', re.DOTALL)
_ONLY_IN_QUOTES: Final = re.compile(r'[ "(),:;<>@\[\\\]]')
_VISIBLE: Final = frozenset("LMNPS")
"""First letters of the Unicode categories of letters, marks, numbers, punctuation and symbols."""
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point, whatever the category, and the blank Braille pattern U+2800."""


def _canonical_local(given: str) -> str | None:
    """Return the local part without needless quotes and backslashes, or None when it is not valid.

    Otherwise one mailbox would have any number of addresses, each with limits of its own.
    """
    if _size(given) > MAX_EMAIL_LOCAL:
        return None
    lower = given.translate(_ASCII_LOWER)
    quoted = _QUOTED.fullmatch(lower)
    content = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL) if quoted else lower
    if not all(map(_is_allowed, content)):
        return None
    if _DOT_ATOM.fullmatch(content):
        return content
    return '"' + re.sub(r'(["\\])', r"\\\1", content) + '"' if quoted else None


def _is_allowed(character: str) -> bool:
    """Return whether a character may be in a local part, quoted or not.

    Control, format and invisible characters are not allowed, nor is a blank other than the ASCII space. A mail server
    may normalize the address, so characters such as a full-width `<` or `"` are not allowed either.
    """
    if character.isascii():
        return character.isprintable()
    if unicodedata.category(character)[0] not in _VISIBLE or _INVISIBLE.match(character):
        return False
    return not _ONLY_IN_QUOTES.search(unicodedata.normalize("NFKC", character))
