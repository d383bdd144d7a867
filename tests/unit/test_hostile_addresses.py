"""Generated hostile addresses: each is rejected, or has one canonical form. `make soak` checks a million of them."""

from types import SimpleNamespace

import email_validator
import pytest

from lab.soak import hostile_addresses
from lab.soak.hostile_addresses import check_addresses, check_characters, parse


@pytest.mark.parametrize("part", range(4))
def test_hostile_address_is_rejected_or_has_one_canonical_form(part: int) -> None:
    assert check_addresses(part, 300).addresses == 300


def test_only_harmless_characters_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    def accept(text: str, **_: object) -> SimpleNamespace:
        return SimpleNamespace(ascii_domain=text.rpartition("@")[2].lower())

    monkeypatch.setattr(email_validator, "validate_email", accept)
    accepted = [known for text in hostile_addresses.generate(8, 2_000) if (known := parse(text)) is not None]
    assert len(accepted) > 200
    for known in accepted:
        check_characters(known)
