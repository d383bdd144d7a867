"""The operations of the API, one module for each, and what their handlers share."""

from importlib import import_module
from typing import Final

from tickover.server.operations.operation import OPERATIONS

__all__ = ["OPERATIONS"]

_MODULES: Final = (
    "create_test_clock",
    "advance_test_clock",
    "send_login_code_email",
    "login_by_email_verification",
    "login_by_email_link",
    "logout",
    "get_test_clock",
    "list_test_clocks",
    "update_test_clock",
    "delete_test_clock",
    "fork_test_clock",
    "amend_test_clock",
    "list_test_clock_events",
    "get_test_clock_balances",
    "check_test_clock",
    "create_test_clock_from_scenario",
    "reconcile_test_clock",
    "expand_scenario",
    "scenario_from_statement",
    "export_test_clock",
    "connect_test_clock",
    "list_test_clock_connections",
    "update_test_clock_connection",
    "list_connection_calls",
    "disconnect_test_clock",
    "get_current_user",
    "create_access_token",
    "list_access_tokens",
    "revoke_access_token",
    "delete_current_user",
    "discover",
)
"""In the order of the reference. Each adds its operation to `OPERATIONS`."""

for _module in _MODULES:
    import_module(f"{__name__}.{_module}")
