"""E-mail addresses: exactly one address, in the one form under which it is known."""

import re
import string

import email_validator
from email_validator import EmailNotValidError, validate_email

from tickover.core.limits import MAX_EMAIL

# The library's documented way to let `.test`, `localhost` and their like pass.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~\\-\u0080-\U0010ffff]+"
_DOT_ATOM = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")


class EmailAddress(str):
    """An address as it is stored and mailed to: ASCII letters in lower case, the domain in IDNA form."""

    __slots__ = ()


def parse(text: object) -> EmailAddress:
    """Read one address; ValueError when it is anything else.

    Nothing is looked up and special-use domains pass: deliverability is the mail server's business. Beside ASCII case
    and needless quotes nothing of the local part is folded: `a.b+c@x` and `ab@x` may be two people.
    """
    if not isinstance(text, str):
        raise ValueError("must be a string")
    if len(text) > MAX_EMAIL:
        raise ValueError(f"must be at most {MAX_EMAIL} characters")
    return EmailAddress(text) if _PLAIN.fullmatch(text) else _parse_any(text)


# What nearly all addresses look like: nothing in them is folded, and all of them are good.
_LABEL = "(?=[a-z0-9-]{1,63}[.])[a-z0-9]+(?:-[a-z0-9]+)*[.]"
_PLAIN = re.compile(rf"(?=[^@]{{1,64}}@)[a-z0-9]+(?:[._+-][a-z0-9]+)*@(?=.{{1,253}}$)(?:{_LABEL})+[a-z]{{2,63}}")


def _parse_any(text: str) -> EmailAddress:
    try:
        found = validate_email(
            text,
            strict=True,
            check_deliverability=False,
            globally_deliverable=False,
            allow_quoted_local=True,
            allow_domain_literal=True,
        )
    except EmailNotValidError:
        raise ValueError("must be one e-mail address, such as ana@example.com") from None
    local = _in_fewest_quotes(text.rpartition("@")[0].translate(_ASCII_LOWER))
    return EmailAddress(f"{local}@{found.ascii_domain}")


def _in_fewest_quotes(local: str) -> str:
    """The same local part with no quote or backslash that it can do without: `"ana"` and `"a\\na"` are `ana`.

    Otherwise one mailbox would have any number of addresses, each with limits of its own.
    """
    if not local.startswith('"'):
        return local
    bare = re.sub(r"\\(.)", r"\1", local[1:-1])
    if _DOT_ATOM.fullmatch(bare):
        return bare
    return '"' + re.sub(r'(["\\])', r"\\\1", bare) + '"'
