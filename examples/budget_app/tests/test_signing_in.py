"""Signing in by a code that comes by mail."""

import pytest
from budget import Budget, Refused

from tickover.pytest_plugin import ClockFactory, Mailbox, Server


def test_a_code_signs_in(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    app = Budget(tickover.url)
    app.ask_for_code(address)
    app.sign_in(address, mailbox.wait_for(address).code or "")

    with tickover.client(address) as same_person:
        assert app.balance(same_person.create_clock().id) == 0


def test_a_wrong_code_does_not(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    app = Budget(tickover.url)
    app.ask_for_code(address)
    right = mailbox.wait_for(address).code
    with pytest.raises(Refused):
        app.sign_in(address, "000000" if right != "000000" else "111111")


def test_who_is_not_signed_in_sees_nothing(tickover: Server, clock: ClockFactory) -> None:
    with pytest.raises(Refused):
        Budget(tickover.url).balance(clock().id)
