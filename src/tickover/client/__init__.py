"""The Python client: `Tickover` for synchronous code, `AsyncTickover` for asyncio."""

# A name that is repeated after `as` is public.
from tickover.api.access_tokens import AccessToken as AccessToken
from tickover.api.access_tokens import CreatedAccessToken as CreatedAccessToken
from tickover.api.access_tokens import CurrentUser as CurrentUser
from tickover.api.access_tokens import SignedIn as SignedIn
from tickover.api.access_tokens import StoredEmail
from tickover.api.access_tokens import TokenInfo as TokenInfo
from tickover.api.clocks import Account as Account
from tickover.api.clocks import AccountBalance as AccountBalance
from tickover.api.clocks import AdvancedClock as AdvancedClock
from tickover.api.clocks import Balance as Balance
from tickover.api.clocks import BalancePoint as BalancePoint
from tickover.api.clocks import Balances as Balances
from tickover.api.clocks import ClockPage as ClockPage
from tickover.api.clocks import Contribution as Contribution
from tickover.api.clocks import Event as Event
from tickover.api.clocks import Goal as Goal
from tickover.api.clocks import Snapshot as Snapshot
from tickover.api.clocks import Summary as Summary
from tickover.api.clocks import Transaction as Transaction
from tickover.api.clocks import Transfer as Transfer
from tickover.api.command_arguments import midnight as midnight
from tickover.api.connections import ALL_QUIRKS as ALL_QUIRKS
from tickover.api.connections import BankFault as BankFault
from tickover.api.connections import Connected as Connected
from tickover.api.connections import Connection as Connection
from tickover.api.durations import Duration as Duration
from tickover.api.errors import Fault as Fault
from tickover.api.errors import Reason as Reason
from tickover.api.errors import Rejection as Rejection
from tickover.api.expectations import Cause as Cause
from tickover.api.expectations import CheckResult as CheckResult
from tickover.api.expectations import Expectation as Expectation
from tickover.api.expectations import ExpectationResult as ExpectationResult
from tickover.api.expectations import Violation as Violation
from tickover.api.expectations import WorstValue as WorstValue
from tickover.api.expectations import goal_reached as goal_reached
from tickover.api.expectations import never_above as never_above
from tickover.api.expectations import never_below as never_below
from tickover.api.expectations import posted as posted
from tickover.api.expectations import total as total
from tickover.api.plans import Plan as Plan
from tickover.api.plans import account as account
from tickover.api.plans import contribution as contribution
from tickover.api.plans import expense as expense
from tickover.api.plans import goal as goal
from tickover.api.plans import income as income
from tickover.api.plans import transfer as transfer
from tickover.api.reconciliation import Reconciliation as Reconciliation
from tickover.client.async_client import AsyncTickover as AsyncTickover
from tickover.client.async_clock import AsyncClock as AsyncClock
from tickover.client.client_errors import BooksDiffer as BooksDiffer
from tickover.client.client_errors import ClientError as ClientError
from tickover.client.client_errors import ExpectationFailed as ExpectationFailed
from tickover.client.client_errors import InvalidResponse as InvalidResponse
from tickover.client.client_errors import NoCode as NoCode
from tickover.client.client_errors import NothingLeft as NothingLeft
from tickover.client.client_errors import Unreachable as Unreachable
from tickover.client.sync_client import Clock as Clock
from tickover.client.sync_client import Tickover as Tickover
from tickover.client.webhooks import Answer as Answer
from tickover.client.webhooks import Delivery as Delivery
from tickover.client.webhooks import Webhook as Webhook

Email = StoredEmail
