"""Plaid's error objects."""

from typing import Final

from tickover.api.connections import BankFaultKind

_LIMIT_CODES: Final = {
    "/item/get": "ITEM_GET_LIMIT",
    "/accounts/get": "ACCOUNTS_LIMIT",
    "/accounts/balance/get": "BALANCE_LIMIT",
    "/transactions/get": "TRANSACTIONS_LIMIT",
    "/transactions/sync": "TRANSACTIONS_SYNC_LIMIT",
    "/transactions/refresh": "TRANSACTIONS_REFRESH_LIMIT",
    "/institutions/get_by_id": "INSTITUTIONS_GET_BY_ID_LIMIT",
}


class PlaidError(Exception):
    """An error that a response has."""

    def __init__(self, type: str, code: str, message: str, status: int = 400, display: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.members = {
            "display_message": display,
            "documentation_url": f"https://plaid.com/docs/errors/{type.lower().replace('_', '-')}/#{code.lower()}",
            "error_code": code,
            "error_message": message,
            "error_type": type,
            "suggested_action": None,
        }


def invalid_field(message: str) -> PlaidError:
    return PlaidError("INVALID_REQUEST", "INVALID_FIELD", message)


def invalid_input(code: str, message: str) -> PlaidError:
    return PlaidError("INVALID_INPUT", code, message)


def internal_error() -> PlaidError:
    return PlaidError("API_ERROR", "INTERNAL_SERVER_ERROR", "an unexpected error occurred", 500)


def rate_limited(endpoint: str) -> PlaidError:
    code = _LIMIT_CODES.get(endpoint, "RATE_LIMIT")
    return PlaidError("RATE_LIMIT_EXCEEDED", code, f"rate limit exceeded for attempts to access {endpoint}", 429)


def login_required() -> PlaidError:
    message = "the login details of this item have changed and a user login is required to update this information"
    display = "The login of this bank has changed. Sign in to the bank again."
    return PlaidError("ITEM_ERROR", "ITEM_LOGIN_REQUIRED", message, display=display)


def fault_error(fault: BankFaultKind, endpoint: str) -> PlaidError:
    """Return the error of a fault of the bank."""
    match fault:
        case "LOGIN_REQUIRED":
            return login_required()
        case "RATE_LIMITED":
            return rate_limited(endpoint)
        case "INSTITUTION_DOWN":
            message = "this institution is not currently responding to requests"
            display = "This bank is not responding. Try again later."
            return PlaidError("INSTITUTION_ERROR", "INSTITUTION_DOWN", message, display=display)
        case "INTERNAL_ERROR":
            return internal_error()
