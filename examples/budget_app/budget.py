"""A small budget app: what is in the account, and what will be, for whoever is signed in.

It asks a Tickover server for the money, and uses nothing but the standard library for it.
"""

import http.client
import json
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Refused(Exception):
    """The server does not do what it was asked. The message says why."""


class Balance(NamedTuple):
    at: datetime
    amount: Decimal
    after: str
    """What it was that made the balance so."""


class Budget:
    """One person's money."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = urlsplit(url)
        self._token = token

    def ask_for_code(self, email: str) -> None:
        """Have a code sent to this address, with which it can sign in."""
        self._call("sendLoginCodeEmail", email=email, loginCodeType="SHORT_LIVED", emailType="LOGIN_CODE")

    def sign_in(self, email: str, code: str) -> None:
        answer = self._call("loginByEmailVerification", email=email, code=code, authenticationMethod="EMAIL_CODE")
        self._token = answer["token"]

    def balance(self, clock: str) -> Decimal:
        """What is in the account."""
        return sum(map(_signed, self._account(clock)["transactions"]), Decimal(0))

    def banner(self, clock: str) -> str:
        """One line for the top of the page: a warning if the money will not last, and otherwise what can be spent."""
        forecast = list(self._forecast(clock))
        lowest = min(forecast, key=lambda balance: balance.amount)
        if lowest.amount >= 0:
            return f"You can spend {lowest.amount:,.2f}."
        first = next(balance for balance in forecast if balance.amount < 0)
        return f"{first.after} on {first.at:%-d %B} will leave you {-first.amount:,.2f} short."

    def _forecast(self, clock: str) -> Iterator[Balance]:
        """The balance as it is, and after everything that is still to come."""
        account = self._account(clock)
        amount = sum(map(_signed, account["transactions"]), Decimal(0))
        yield Balance(datetime.fromisoformat(account["frozenTime"]), amount, "")
        for item in account["pendingTransactions"]:
            amount += _signed(item)
            yield Balance(datetime.fromisoformat(item["at"]), amount, item["name"])

    def _account(self, clock: str) -> dict[str, Any]:
        account: dict[str, Any] = self._call("getTestClock", id=clock)["clock"]
        return account

    def _call(self, method: str, **params: str) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.netloc, timeout=10)
        try:
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            connection.request("POST", f"{self._url.path}/rpc", json.dumps(call), headers)
            # Money is counted in decimals: a float has no exact 0.10.
            answer = json.load(connection.getresponse(), parse_float=Decimal, parse_int=Decimal)
        finally:
            connection.close()
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result


def _signed(item: dict[str, Any]) -> Decimal:
    amount = Decimal(item["amount"])
    return amount if item["type"] == "INCOME" else -amount
