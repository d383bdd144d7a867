"""The operations of the API, one module for each, and what their handlers share."""

from typing import Final

from tickover.server.operations import (
    advance_test_clock,
    amend_test_clock,
    check_test_clock,
    connect_test_clock,
    create_access_token,
    create_test_clock,
    create_test_clock_from_scenario,
    delete_test_clock,
    disconnect_test_clock,
    discover,
    expand_scenario,
    export_test_clock,
    fork_test_clock,
    get_current_user,
    get_test_clock,
    get_test_clock_balances,
    list_access_tokens,
    list_test_clock_connections,
    list_test_clock_events,
    list_test_clocks,
    login_by_email_link,
    login_by_email_verification,
    logout,
    reconcile_test_clock,
    revoke_access_token,
    scenario_from_statement,
    send_login_code_email,
    update_test_clock,
)
from tickover.server.operations.operation import Operation

_MODULES: Final = (
    create_test_clock,
    advance_test_clock,
    send_login_code_email,
    login_by_email_verification,
    login_by_email_link,
    logout,
    get_test_clock,
    list_test_clocks,
    update_test_clock,
    delete_test_clock,
    fork_test_clock,
    amend_test_clock,
    list_test_clock_events,
    get_test_clock_balances,
    check_test_clock,
    create_test_clock_from_scenario,
    reconcile_test_clock,
    expand_scenario,
    scenario_from_statement,
    export_test_clock,
    connect_test_clock,
    list_test_clock_connections,
    disconnect_test_clock,
    get_current_user,
    create_access_token,
    list_access_tokens,
    revoke_access_token,
    discover,
)

OPERATIONS: Final[dict[str, Operation]] = {module.OPERATION.name: module.OPERATION for module in _MODULES}
"""In the order of the reference: first the four operations of the interface."""
