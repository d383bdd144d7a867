"""Sign-in with a code from an email."""

import pytest
from budget import Budget, ServerError

from tickover.pytest_plugin import ClockFactory, Mailbox, Server


def test_sign_in_with_a_code(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    app = Budget(tickover.url)
    app.request_code(address)
    app.sign_in(address, mailbox.wait_for(address).code or "")

    with tickover.client(address) as same_user:
        assert app.balance(same_user.create_clock().id) == 0


def test_wrong_code_is_rejected(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    app = Budget(tickover.url)
    app.request_code(address)
    code = mailbox.wait_for(address).code
    with pytest.raises(ServerError):
        app.sign_in(address, "000000" if code != "000000" else "111111")


def test_balance_requires_sign_in(tickover: Server, clock: ClockFactory) -> None:
    with pytest.raises(ServerError):
        Budget(tickover.url).balance(clock().id)
