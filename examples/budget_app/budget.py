"""A small budget app: the current balance and the forecast of one user's account.

It gets the account from a Tickover server, and uses only the standard library.
"""

import http.client
import json
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class ServerError(Exception):
    """The server returned an error."""


class Balance(NamedTuple):
    at: datetime
    amount: Decimal
    after: str
    """The name of the transaction that led to this balance."""


class Budget:
    """One user's budget."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = urlsplit(url)
        self._token = token

    def request_code(self, email: str) -> None:
        """Send a sign-in code to this email address."""
        self._call("sendLoginCodeEmail", email=email, loginCodeType="SHORT_LIVED", emailType="LOGIN_CODE")

    def sign_in(self, email: str, code: str) -> None:
        result = self._call("loginByEmailVerification", email=email, code=code, authenticationMethod="EMAIL_CODE")
        self._token = result["token"]

    def balance(self, clock: str) -> Decimal:
        """Return the current balance."""
        return _balance(self._account(clock))

    def banner(self, clock: str) -> str:
        """Return a warning if the balance will become negative, or else the amount that is free to spend."""
        forecast = list(self._forecast(clock))
        lowest = min(forecast, key=lambda balance: balance.amount)
        if lowest.amount >= 0:
            return f"You can spend {lowest.amount:,.2f}."
        first = next(balance for balance in forecast if balance.amount < 0)
        return f"{first.after} on {first.at:%-d %B} will leave you {-first.amount:,.2f} short."

    def _forecast(self, clock: str) -> Iterator[Balance]:
        """Yield the current balance, and the balance after each pending transaction."""
        account = self._account(clock)
        amount = _balance(account)
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
        connection_class = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = connection_class(self._url.netloc, timeout=10)
        try:
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            connection.request("POST", f"{self._url.path}/rpc", json.dumps(call), headers)
            # Use decimals: a float can't represent 0.10 exactly.
            response = json.load(connection.getresponse(), parse_float=Decimal, parse_int=Decimal)
        finally:
            connection.close()
        if "error" in response:
            raise ServerError(response["error"]["message"])
        result: dict[str, Any] = response["result"]
        return result


def _balance(account: dict[str, Any]) -> Decimal:
    """Return the balance after all posted transactions. The account has one currency."""
    return sum(map(_signed, account["transactions"]), sum(account.get("openingBalances", {}).values(), Decimal(0)))


def _signed(item: dict[str, Any]) -> Decimal:
    amount = Decimal(item["amount"])
    return amount if item["type"] == "INCOME" else -amount
