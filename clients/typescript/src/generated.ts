// Generated from the OpenRPC document by `make types`. Don't edit this file.

/** An instant in RFC 3339, such as 2027-01-31T09:00:00Z. The client sends a Date as such a string. */
export type InstantInput = string | Date;

/** Options of one call. */
export interface CallOptions {
  /** For operations that take one. Without it, the client creates a new key for each call. */
  idempotencyKey?: string;
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** The parameters of createTestClock. */
export interface NewClock {
  /** The start of the clock, within 10 years of the current real time, which is the default. */
  frozenTime?: InstantInput;
  /** Income and expenses, in any order. */
  transactions?: Array<TransactionEntry>;
  /** Savings goals. */
  goals?: Array<GoalEntry>;
  /** Your own name for the clock. */
  name?: string;
  /** Your own labels. A name has 1 to 64 characters of `A-Z a-z 0-9 . _ - /`. A value is a string of at most 200 characters. */
  labels?: Record<string, string>;
  /** The accounts of the clock. They can't change later. */
  accounts?: Array<AccountEntry>;
  /** Transfers between the accounts, in any order. */
  transfers?: Array<TransferEntry>;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
  /** What you expect of the clock until its `maxTime`. `checkTestClock` checks it. */
  expectations?: Array<ExpectationEntry>;
}

/** Income or an expense at an instant. */
export interface TransactionEntry {
  /** The instant at which the item takes effect, from `frozenTime` to `maxTime` inclusive. */
  at: InstantInput;
  /** The name of the transaction or goal. */
  name: string;
  /** The amount of money. */
  amount: number;
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** Whether money comes in or goes out. */
  type: "EXPENSE" | "INCOME";
  /** Your own label. It may be empty. */
  category?: string;
  /** The key of an account. Default: the first account with this currency. */
  account?: string;
  /** When a card payment was authorized, from the clock's start to `at`. Only a bank connection uses it. */
  authorizedAt?: InstantInput;
  /** The amount that was authorized. Default: `amount`. It needs `authorizedAt`. */
  authorizedAmount?: number;
  /** The name at the authorization. Default: `name`. It needs `authorizedAt`. */
  authorizedName?: string;
}

/** A savings goal. */
export interface GoalEntry {
  /** The name of the transaction or goal. */
  name: string;
  /** The amount to save. */
  targetAmount: number;
  /** The amount at the start. It must not exceed `targetAmount`. */
  initialAmount?: number;
  /** Payments towards the goal, in any order. */
  contributions?: Array<ContributionEntry>;
}

/** A payment towards a goal at an instant. */
export interface ContributionEntry {
  /** The instant of the payment, from `frozenTime` to `maxTime` inclusive. */
  at: InstantInput;
  /** The amount of money. */
  amount: number;
}

/** An account, such as a bank account or a credit card. */
export interface AccountEntry {
  /** Your own key. No other account of the clock has it. */
  key: string;
  /** The name of the transaction or goal. */
  name: string;
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** What kind of account it is. */
  type?: "CASH" | "CHECKING" | "CREDIT_CARD" | "LOAN" | "SAVINGS";
  /** The balance before the clock's start. What you owe is negative. */
  openingBalance?: number;
}

/** Money that moves from one account to another: neither income nor an expense. */
export interface TransferEntry {
  /** The instant of the transfer, from `frozenTime` to `maxTime` inclusive. */
  at: InstantInput;
  /** The name of the transaction or goal. */
  name: string;
  /** The key of the account that the money leaves. */
  from: string;
  /** The key of the account that gets the money. */
  to: string;
  /** The amount that leaves, in the currency of `from`. */
  amount: number;
  /** The amount that arrives. It is required if the accounts have different currencies, and not allowed else. */
  received?: number;
}

/** One expectation. It has exactly one member. */
export interface ExpectationEntry {
  balance?: BalanceExpectationEntry;
  goalReached?: GoalReachedExpectationEntry;
  total?: TotalExpectationEntry;
  posted?: PostedExpectationEntry;
}

/** The balance stays within bounds at every instant from `from` to `until`. */
export interface BalanceExpectationEntry {
  /** Three uppercase letters, such as `EUR`. */
  currency?: string;
  /** The smallest value that is allowed. You need `atLeast`, `atMost` or both. */
  atLeast?: number;
  /** The largest value that is allowed. */
  atMost?: number;
  /** The start of the range. Default: the clock's start. */
  from?: InstantInput;
  /** The end of the range. Default: `until` of the call. */
  until?: InstantInput;
  /** The key of an account. Pass either it or `currency`. */
  account?: string;
}

/** A goal is reached at or before `by`. */
export interface GoalReachedExpectationEntry {
  /** The ID of a goal, or a name that only one goal has. */
  goal: string;
  /** An instant from the clock's start to `until` of the call. */
  by: InstantInput;
}

/** The total of transactions stays within bounds in every period. */
export interface TotalExpectationEntry {
  /** Whether money comes in or goes out. */
  type: "EXPENSE" | "INCOME";
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** A period in UTC, or `ALL` for one total. Weeks start on Monday. Incomplete ones count only for `atMost`. */
  per: "ALL" | "DAY" | "MONTH" | "WEEK";
  /** Counts only transactions with this category. */
  category?: string;
  /** The smallest value that is allowed. You need `atLeast`, `atMost` or both. */
  atLeast?: number;
  /** The largest value that is allowed. */
  atMost?: number;
}

/** At least `count` transactions with this name are posted at or before `by`. */
export interface PostedExpectationEntry {
  /** The name of the transactions. */
  name: string;
  /** An instant from the clock's start to `until` of the call. */
  by: InstantInput;
  /** The smallest number of transactions. Default: 1. */
  count?: number;
}

/** The parameters of advanceTestClock. */
export interface AdvanceEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The new simulated time, from the clock's `frozenTime` to its `maxTime`. Pass it, `by` or `next`. */
  frozenTime?: InstantInput;
  /** A duration from the clock's `frozenTime`, such as `1mo`, `2w`, `36h` or `1y 6mo`. */
  by?: string;
  /** Whether to advance to the next item. */
  next?: boolean;
  /** Whether to return what happened. */
  events?: boolean;
}

/** The parameters of sendLoginCodeEmail. */
export interface SendEntry {
  /** One email address. */
  email: string;
  /** How long the code or link is valid: minutes for a code, an hour for a link. See `emailType`. */
  loginCodeType: "LONG_LIVED" | "SHORT_LIVED";
  /** What the email contains: a code or a link. */
  emailType: "LOGIN_CODE" | "WEB_LOGIN_LINK";
}

/** The parameters of loginByEmailVerification. */
export interface VerificationEntry {
  /** One email address. */
  email: string;
  /** The 6 digits from the email, including leading zeros. */
  code: string;
  /** The only supported method. */
  authenticationMethod: "EMAIL_CODE";
}

/** The parameters of loginByEmailLink. */
export interface LinkEntry {
  /** The text after `#token=` in the link. */
  token: string;
}

/** The parameters of logout. */
export interface LogoutEntry {
  /** Whether to revoke the tokens of all your sign-ins. */
  everywhere?: boolean;
}

/** The parameters of getTestClock. With `at`, the result is a preview. */
export interface GetEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** Previews the clock at this instant, from its `frozenTime` to its `maxTime`. Default: its `frozenTime`. */
  at?: InstantInput;
  /** Whether the clock has its `startTime`, and each goal its `initialAmount`. */
  details?: boolean;
}

/** The parameters of listTestClocks. */
export interface ListEntry {
  /** The maximum number of clocks. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** Returns only clocks that have all of these labels with these values. */
  labels?: Record<string, string>;
  /** Returns only clocks with exactly this name. */
  name?: string;
  /** Whether each clock has its `startTime`. */
  details?: boolean;
}

/** The parameters of updateTestClock. */
export interface UpdateEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** New name, or null to remove it. */
  name?: string | null;
  /** New labels, or null to remove them. */
  labels?: Record<string, string> | null;
  /** New opening balances, or null to remove them. */
  openingBalances?: Record<string, number> | null;
  /** New expectations, or null to remove them. */
  expectations?: Array<ExpectationEntry> | null;
  /** How the bank behaves for connections that an app makes itself, or null to remove it. */
  bankDefaults?: BankSettings | null;
}

/** How the bank of a connection behaves. */
export interface BankSettings {
  /** Failures of the bank. If several hold at an instant, the first in the list counts. */
  faults?: Array<BankFault>;
  /** Habits of real banks that apps stumble over, each at most once. None changes a balance. */
  quirks?: Array<"DOUBLES" | "HOLDS_AS_BOOKED" | "HOLDS_STAY" | "NEW_IDS" | "NEW_IDS_ON_RELINK" | "NO_IDS" | "REWRITES_NAMES" | "SAME_ID" | "SHORT_HISTORY" | "TELLS_LATE" | "UNLINKED">;
  /** How many simulated days after the claim of the connection the consent ends. Then the bank requires a login. */
  consentDays?: number;
  /** How many calls for data the bank answers within 24 simulated hours. */
  callsPerDay?: number;
}

/** A failure that the bank simulates from `from` until `until`, in the clock's time. */
export interface BankFault {
  /** The failure. The bank reports it as its protocol does. */
  kind: "INSTITUTION_DOWN" | "INTERNAL_ERROR" | "LOGIN_REQUIRED" | "RATE_LIMITED";
  /** The first instant at which calls fail. */
  from: InstantInput;
  /** When calls succeed again. Default: never. */
  until?: InstantInput;
}

/** The parameters of an operation on a clock. */
export interface ClockParams {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
}

/** The parameters of forkTestClock. */
export interface ForkEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The `frozenTime` of the fork, from the original's start, which is the default, to its `maxTime`. */
  at?: InstantInput;
  /** The name of the fork. Default: that of the original. */
  name?: string;
  /** The labels of the fork. Default: those of the original. */
  labels?: Record<string, string>;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
  /** The expectations of the fork. Default: those of the original. A goal's ID is that of the original. */
  expectations?: Array<ExpectationEntry>;
}

/** The parameters of amendTestClock. */
export interface AmendEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  add?: AddEntry;
  /** The IDs of transactions, transfers and contributions after `frozenTime`. */
  cancel?: Array<string>;
}

/** Items to add. You need `add`, `cancel` or both. */
export interface AddEntry {
  /** Income and expenses, in any order. */
  transactions?: Array<TransactionEntry>;
  /** New savings goals. */
  goals?: Array<GoalEntry>;
  /** Payments towards goals that the clock already has, in any order. */
  contributions?: Array<AddedContributionEntry>;
  /** Transfers between accounts of the clock, in any order. */
  transfers?: Array<TransferEntry>;
}

/** A payment towards a goal that the clock already has. */
export interface AddedContributionEntry {
  /** The instant of the payment, from `frozenTime` to `maxTime` inclusive. */
  at: InstantInput;
  /** The amount of money. */
  amount: number;
  /** The ID of a goal of this clock. */
  goalId: string;
}

/** The parameters of listTestClockEvents. */
export interface EventsEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** Returns only events after this instant. */
  after?: InstantInput;
  /** Returns events up to this instant, from the clock's start to its `maxTime`. Default: its `frozenTime`. */
  until?: InstantInput;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
  /** The maximum number of events. */
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}

/** The parameters of getTestClockBalances. */
export interface BalancesEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** An instant from the clock's start to its `maxTime`. Default: its `frozenTime`. */
  at?: InstantInput;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
}

/** The parameters of checkTestClock. */
export interface CheckEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** Default: the expectations of the clock. */
  expectations?: Array<ExpectationEntry>;
  /** The end of the check, from the clock's start to its `maxTime`, which is the default. */
  until?: InstantInput;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
}

/** The parameters of createTestClockFromScenario. */
export interface FromScenarioEntry {
  /** The name of an included scenario. Pass either it or `text`. */
  scenario?: string;
  /** A scenario in TOML, with at most 262,144 bytes in UTF-8. */
  text?: string;
  /** The start of the clock. Default: the start of the scenario, or else the first day of this month. */
  start?: InstantInput;
  /** Your own name for the clock. Default: the scenario's title. */
  name?: string;
  /** Your own labels. A name has 1 to 64 characters of `A-Z a-z 0-9 . _ - /`. A value is a string of at most 200 characters. */
  labels?: Record<string, string>;
}

/** The parameters of reconcileTestClock. */
export interface ReconcileEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  observed: BooksEntry;
  /** An instant from the clock's start to its `maxTime`. Default: its `frozenTime`. */
  at?: InstantInput;
  /** The key of an account of the clock. */
  account?: string;
  /** All accounts with this currency. A clock with one currency needs neither `account` nor `currency`. */
  currency?: string;
  /** How many days a transaction may be early or late. */
  toleranceDays?: number;
}

/** What the app recorded: transactions, a balance, or both. */
export interface BooksEntry {
  /** All transactions of the account or currency until `at`, in any order. */
  transactions?: Array<ObservedEntry>;
  /** The balance that the app shows. */
  balance?: number;
}

/** A transaction that the app recorded. */
export interface ObservedEntry {
  /** When it happened. */
  at: InstantInput;
  /** Negative if money went out. */
  amount: number;
  /** The ID that the bank gave it. Others are ignored. */
  id?: string;
  /** The name of the transaction or goal. */
  name?: string;
}

/** The parameters of expandScenario. */
export interface ExpandEntry {
  /** The scenario in TOML. The page Scenarios of the documentation describes the format. */
  text: string;
  /** The start of the clock. Default: the start in the text, or else the first day of this month. */
  start?: InstantInput;
}

/** The parameters of scenarioFromStatement. */
export interface StatementEntry {
  /** The file in Base64: CSV or OFX with at most 524,288 bytes. */
  content: string;
  /** The name of the file. Messages and the title of the scenario use it. */
  fileName?: string;
  /** The currency of a CSV file that doesn't name it. */
  currency?: string;
  /** Whether 03/04/2027 is 3 April. Ambiguous dates need it. */
  dayFirst?: boolean;
}

/** The parameters of exportTestClock. */
export interface ExportEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The format of the file. */
  format: "beancount" | "camt053" | "csv" | "hledger" | "json" | "ofx";
  /** Whether to include transactions after the clock's `frozenTime`. */
  pending?: boolean;
  /** The balance of each currency before the clock's start, from -1,000,000,000,000 to 1,000,000,000,000. A missing one is 0. A clock with accounts has none. */
  openingBalances?: Record<string, number>;
  /** The key of an account. Default: all. */
  account?: string;
}

/** The parameters of connectTestClock. */
export interface ConnectEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The protocol of the program that connects. */
  protocol: "PLAID" | "SIMPLEFIN";
  /** The name of the bank that the program shows. */
  institution?: string;
  /** Failures of the bank. If several hold at an instant, the first in the list counts. */
  faults?: Array<BankFault>;
  /** Habits of real banks that apps stumble over, each at most once. None changes a balance. */
  quirks?: Array<"DOUBLES" | "HOLDS_AS_BOOKED" | "HOLDS_STAY" | "NEW_IDS" | "NEW_IDS_ON_RELINK" | "NO_IDS" | "REWRITES_NAMES" | "SAME_ID" | "SHORT_HISTORY" | "TELLS_LATE" | "UNLINKED">;
  /** How many simulated days after the claim of the connection the consent ends. Then the bank requires a login. */
  consentDays?: number;
  /** How many calls for data the bank answers within 24 simulated hours. */
  callsPerDay?: number;
  /** A URL that the bank calls when it shows something new, once the program has exchanged its token. */
  webhook?: string;
}

/** The parameters of updateTestClockConnection. */
export interface UpdateConnectionEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The ID of a connection of this clock. */
  connectionId: string;
  /** New failures of the bank, or null for none. */
  faults?: Array<BankFault> | null;
  /** New quirks of the bank, or null for none. */
  quirks?: Array<"DOUBLES" | "HOLDS_AS_BOOKED" | "HOLDS_STAY" | "NEW_IDS" | "NEW_IDS_ON_RELINK" | "NO_IDS" | "REWRITES_NAMES" | "SAME_ID" | "SHORT_HISTORY" | "TELLS_LATE" | "UNLINKED"> | null;
  /** A new limit, or null for none. */
  callsPerDay?: number | null;
  /** A new URL to call, or null for none. */
  webhook?: string | null;
}

/** The parameters of listConnectionCalls. */
export interface ListCallsEntry {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The ID of a connection of this clock. */
  connectionId: string;
  /** The most calls to return. */
  limit?: number;
}

/** The parameters of an operation on a connection. */
export interface ConnectionParams {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The ID of a connection of this clock. */
  connectionId: string;
}

/** The operation has no parameters. */
export type NoParams = Record<string, never>;

/** The parameters of createAccessToken. */
export interface CreateAccessTokenEntry {
  /** Your own name for the token, such as the program that uses it. */
  name: string;
  /** The number of days until the token expires. */
  expiresInDays?: number;
  /** Whether the token can call only operations that change nothing. */
  readOnly?: boolean;
}

/** The parameters of revokeAccessToken. */
export interface RevokeAccessTokenEntry {
  /** The ID of one of your access tokens. */
  id: string;
}

/** The clock with its items. */
export interface OneClock {
  clock: Snapshot;
}

/** A clock at an instant. */
export interface Snapshot {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The only status. Advancing is synchronous, so no other status is needed. */
  status: "READY";
  /** The current simulated time. */
  frozenTime: string;
  /** The latest simulated time: 10 years after the clock's start. */
  maxTime: string;
  /** The real time at which the clock expires: seven days after its creation. */
  expiresAt: string;
  /** The first `frozenTime` of the clock, or of the original if the clock is a fork. Only with `details`. */
  startTime?: string;
  /** The name of the clock, if it has one. */
  name?: string;
  /** The labels of the clock, if it has any. */
  labels?: Record<string, string>;
  /** Transactions at or before `frozenTime`, in order of time. */
  transactions: Array<Transaction>;
  /** Transactions after `frozenTime`, in order of time. */
  pendingTransactions: Array<Transaction>;
  /** Goals, in the order in which they were added. */
  goals: Array<Goal>;
  /** The balances before the clock's start, if given. */
  openingBalances?: Record<string, number>;
  /** The expectations of the clock, if it has any. */
  expectations?: Array<ExpectationEntry>;
  bankDefaults?: BankSettings;
  /** The accounts, if the clock has any. */
  accounts?: Array<Account>;
  /** Transfers at or before `frozenTime`. Only if the clock has accounts. */
  transfers?: Array<Transfer>;
  /** Transfers after `frozenTime`. Only if the clock has accounts. */
  pendingTransfers?: Array<Transfer>;
}

/** A simulated income or expense at an instant. */
export interface Transaction {
  /** Opaque; starts with `txn_`. */
  id: string;
  /** The instant at which the item takes effect. */
  at: string;
  /** The name of the transaction or goal. */
  name: string;
  /** The amount of money. */
  amount: number;
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** Whether money comes in or goes out. */
  type: "EXPENSE" | "INCOME";
  /** The category of the request, if it had one. */
  category?: string;
  /** The key of its account, if the clock has accounts. */
  account?: string;
  /** As in the request, if it had one. */
  authorizedAt?: string;
  /** As in the request, if it had one. */
  authorizedAmount?: number;
  /** As in the request, if it had one. */
  authorizedName?: string;
  /** Distinguishes simulated money from real money. */
  source: "SIMULATED_TEST_CLOCK";
}

/** A savings goal with its progress. */
export interface Goal {
  /** Opaque; starts with `goal_`. */
  id: string;
  /** The name of the transaction or goal. */
  name: string;
  /** The amount to save. */
  targetAmount: number;
  /** The initial amount plus all posted contributions. */
  currentAmount: number;
  /** `targetAmount` minus `currentAmount`. Negative if overfunded. */
  remainingAmount: number;
  /** A percentage of `targetAmount` with at most two decimals. 100 or more only if the target is reached. */
  progressPercent: number;
  /** Contributions at or before `frozenTime`, in order of time. */
  contributions: Array<Contribution>;
  /** Contributions after `frozenTime`, in order of time. */
  upcomingContributions: Array<Contribution>;
  /** The amount before contributions. Only with `details`. */
  initialAmount?: number;
}

/** A payment towards a goal at an instant. */
export interface Contribution {
  /** Opaque; starts with `ctb_`. */
  id: string;
  /** The instant at which the item takes effect. */
  at: string;
  /** The amount of money. */
  amount: number;
}

/** An account with its balance. */
export interface Account {
  /** The key of the request. */
  key: string;
  /** The name of the account. */
  name: string;
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** What kind of account it is. */
  type: "CASH" | "CHECKING" | "CREDIT_CARD" | "LOAN" | "SAVINGS";
  /** The balance before the clock's start. */
  openingBalance: number;
  /** The balance at `frozenTime`. */
  balance: number;
}

/** A simulated transfer from one account to another at an instant. */
export interface Transfer {
  /** Opaque; starts with `tfr_`. */
  id: string;
  /** The instant at which the item takes effect. */
  at: string;
  /** The name of the transfer. */
  name: string;
  /** The key of the account that the money leaves. */
  from: string;
  /** The key of the account that gets the money. */
  to: string;
  /** The amount that leaves. */
  amount: number;
  /** The currency of `from`. */
  currency: string;
  /** The amount that arrives, if the accounts' currencies differ. */
  received?: number;
  /** The currency of `to`, if the accounts' currencies differ. */
  receivedCurrency?: string;
  /** Distinguishes simulated money from real money. */
  source: "SIMULATED_TEST_CLOCK";
}

/** The clock with its items, and what happened. */
export interface AdvancedClock {
  clock: Snapshot;
  /** What happened, in order of time. Only with the parameter `events`. */
  events?: Array<Event>;
  /** True if other events happened after these; omitted otherwise. */
  moreEvents?: boolean;
}

/** Something that happened to a clock, or will happen. Its type decides which of the other members it has. */
export interface Event {
  /** Derived from the item's ID, so it never changes. Starts with `evt_`. */
  id: string;
  /** The instant of the event. */
  at: string;
  /** What happened. */
  type: "contribution.posted" | "goal.reached" | "transaction.posted" | "transfer.posted";
  /** True if the event is after the clock's `frozenTime`; omitted otherwise. */
  pending?: boolean;
  transaction?: Transaction;
  /** For `transaction.posted`: the balance of its currency after it and all items before it. */
  balance?: number;
  /** For `transaction.posted`: the balance of its account, if the clock has accounts. */
  accountBalance?: number;
  transfer?: Transfer;
  /** For `transfer.posted`: the balance of `from`. */
  fromBalance?: number;
  /** For `transfer.posted`: the balance of `to`. */
  toBalance?: number;
  /** For `contribution.posted` and `goal.reached`: the goal's ID. */
  goalId?: string;
  contribution?: Contribution;
  /** For `contribution.posted`: the goal's amount after it. */
  currentAmount?: number;
}

/** The mail server accepted the email. */
export interface Sent {
  /** Confirms that the operation succeeded. */
  message: "ok";
  /** The link. Only for `WEB_LOGIN_LINK`, and only if emails go to the development outbox. */
  loginUrl?: string;
}

/** A bearer token and its user. */
export interface SignedIn {
  /** The bearer token. It starts with `tko_` and is valid for 30 days. */
  token: string;
  /** Your user ID, the same at every sign-in. Opaque; starts with `user_`. */
  userId: string;
}

/** The operation succeeded. */
export interface Done {
  /** Confirms that the operation succeeded. */
  message: "ok";
}

/** A page of the list. */
export interface ClockPage {
  /** Newest first. */
  clocks: Array<Summary>;
  /** The cursor of the next page. The last page has none. */
  nextCursor?: string;
}

/** A clock without its transactions and goals. */
export interface Summary {
  /** The clock's ID. It starts with `clock_`. */
  id: string;
  /** The only status. Advancing is synchronous, so no other status is needed. */
  status: "READY";
  /** The current simulated time. */
  frozenTime: string;
  /** The latest simulated time: 10 years after the clock's start. */
  maxTime: string;
  /** The real time at which the clock expires: seven days after its creation. */
  expiresAt: string;
  /** The first `frozenTime` of the clock, or of the original if the clock is a fork. Only with `details`. */
  startTime?: string;
  /** The name of the clock, if it has one. */
  name?: string;
  /** The labels of the clock, if it has any. */
  labels?: Record<string, string>;
}

/** A page of events. */
export interface EventPage {
  /** In order of time. */
  events: Array<Event>;
  /** The cursor of the next page. The last page has none. */
  nextCursor?: string;
}

/** The balances at an instant. */
export interface Balances {
  /** The instant of the balances. */
  at: string;
  /** One for each currency, sorted by currency. */
  balances: Array<Balance>;
  /** One for each account of the clock, in their order. */
  accounts?: Array<AccountBalance>;
}

/** The balance of one currency, and what led to it. */
export interface Balance {
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** The balance before the clock's start. */
  opening: number;
  /** The sum of all income up to the instant. */
  income: number;
  /** The sum of all expenses up to the instant. */
  expense: number;
  /** The opening balance plus income minus expenses, and what transfers add to it. */
  balance: number;
  lowest: BalancePoint;
  highest: BalancePoint;
  /** The sum of transfers in. Only if the clock has accounts. */
  transferredIn?: number;
  /** The sum of transfers out. Only if the clock has accounts. */
  transferredOut?: number;
}

/** A balance at an instant. */
export interface BalancePoint {
  /** The earliest instant with this balance. The opening balance counts as the clock's start. */
  at: string;
  /** The opening balance plus income minus expenses. */
  balance: number;
}

/** The balance of one account, and what led to it. */
export interface AccountBalance {
  /** Three uppercase letters, such as `EUR`. */
  currency: string;
  /** The balance before the clock's start. */
  opening: number;
  /** The sum of all income up to the instant. */
  income: number;
  /** The sum of all expenses up to the instant. */
  expense: number;
  /** The opening balance plus income minus expenses, and what transfers add to it. */
  balance: number;
  lowest: BalancePoint;
  highest: BalancePoint;
  /** The sum of transfers in. Only if the clock has accounts. */
  transferredIn?: number;
  /** The sum of transfers out. Only if the clock has accounts. */
  transferredOut?: number;
  /** The key of the account. */
  account: string;
}

/** The results of all expectations. */
export interface CheckResult {
  /** Whether all expectations hold. */
  ok: boolean;
  /** The end of the check. */
  until: string;
  /** One for each expectation, in the order of the request. */
  results: Array<ExpectationResult>;
  /** The expectations of the clock, if the call had none. */
  expectations?: Array<ExpectationEntry>;
}

/** Whether one expectation holds. */
export interface ExpectationResult {
  /** Whether the expectation holds. */
  ok: boolean;
  violation?: Violation;
}

/** The first violation of an expectation. */
export interface Violation {
  /** The first violation: for `goalReached` and `posted`, `by`; for a total below `atLeast`, the last microsecond of the period. */
  at: string;
  /** The violation in words. */
  message: string;
  /** The balance, total, amount or count. */
  actual: number;
  /** IDs of the transactions or contributions that `actual` depends on. */
  itemIds: Array<string>;
  cause?: Cause;
  /** When the balance is within the bounds again. For a total above `atMost`, the last microsecond of the period. Absent if that isn't within the range. */
  until?: string;
  worst?: WorstValue;
}

/** The item that caused a violation.

For a balance, it is the item at the violation's `at` that moved the balance most in the wrong direction. For a
total, it is the transaction that exceeded `atMost`. */
export interface Cause {
  /** The ID of the transaction or transfer. */
  id: string;
  /** When it is posted. */
  at: string;
  /** The name of the transaction or transfer. */
  name: string;
  /** What the item added to the balance or total. Negative if it lowered the balance. */
  amount: number;
  /** The balance or total just before the item. */
  before: number;
  /** The balance or total just after the item. */
  after: number;
}

/** The balance or total that is farthest beyond the bound. */
export interface WorstValue {
  /** The first time with this value. */
  at: string;
  /** The balance or total. */
  actual: number;
}

/** The result of reconcileTestClock. */
export interface Reconciliation {
  /** Whether nothing differs. */
  ok: boolean;
  /** What the app didn't record. */
  missing: Array<ExpectedItem>;
  /** What the bank didn't show. */
  unexpected: Array<ObservedItem>;
  /** Further copies of what the app recorded. */
  duplicated: Array<ObservedItem>;
  /** What the app recorded differently. */
  changed: Array<ChangedItem>;
  balance?: ComparedBalance;
  firstDivergence?: Divergence;
}

/** What the bank showed. */
export interface ExpectedItem {
  /** The ID of the item. That of a transfer ends in `_out` or `_in`. */
  id: string;
  /** When it happened. */
  at: string;
  /** Its name. */
  name: string;
  /** Negative if money went out. */
  amount: number;
}

/** What the app recorded. */
export interface ObservedItem {
  /** Its position in `observed.transactions`. */
  index: number;
  /** As it was sent. */
  at: string;
  /** As it was sent. */
  amount: number;
  /** As it was sent. */
  id?: string;
  /** As it was sent. */
  name?: string;
}

/** A transaction that the app recorded differently. */
export interface ChangedItem {
  expected: ExpectedItem;
  observed: ObservedItem;
  /** The members that differ. */
  fields: Array<"amount" | "at" | "name">;
}

/** The balance of the bank and that of the app. */
export interface ComparedBalance {
  /** The balance at the bank. */
  expected: number;
  /** The balance that the app shows. */
  observed: number;
}

/** Where the books differ first. */
export interface Divergence {
  /** The time of the transaction, or of the balance. */
  at: string;
  /** The member of the result that has it. */
  kind: "balance" | "changed" | "duplicated" | "missing" | "unexpected";
}

/** The parameters of a clock, and its expectations. */
export interface ExpandedScenario {
  params: NewClock;
  /** The expectations of the scenario, as in `checkTestClock`. */
  expectations: Array<ExpectationEntry>;
}

/** A scenario with the payments of a bank's file. */
export interface StatementScenario {
  /** The scenario in TOML. */
  text: string;
}

/** A file with account statements. */
export interface ExportedClock {
  /** A name for the file: the clock's ID with the extension of the format. */
  fileName: string;
  /** The media type of the file. Its charset is UTF-8. */
  mediaType: string;
  /** The content of the file. */
  text: string;
}

/** The new connection, and the secret to give to the program. */
export interface Connected {
  connection: Connection;
  /** For SimpleFIN: the token that the program claims, once. Only this response has it. */
  setupToken?: string;
  /** For Plaid: the token that the program exchanges, once. Only this response has it. */
  publicToken?: string;
}

/** A connection, without its secret. */
export interface Connection {
  /** Opaque; starts with `conn_`. */
  id: string;
  /** The protocol of the program that connects. */
  protocol: "PLAID" | "SIMPLEFIN";
  /** The name of the bank. */
  institution: string;
  /** The real time at which the connection was created. */
  createdAt: string;
  /** The failures of the request. Times are in UTC. */
  faults?: Array<BankFault>;
  /** True once a program has exchanged the token; omitted before. */
  claimed?: boolean;
  /** The quirks of the request. */
  quirks?: Array<"DOUBLES" | "HOLDS_AS_BOOKED" | "HOLDS_STAY" | "NEW_IDS" | "NEW_IDS_ON_RELINK" | "NO_IDS" | "REWRITES_NAMES" | "SAME_ID" | "SHORT_HISTORY" | "TELLS_LATE" | "UNLINKED">;
  /** The `consentDays` of the request. */
  consentDays?: number;
  /** The `callsPerDay` of the request. */
  callsPerDay?: number;
  webhook?: Webhook;
}

/** Where the bank announces what is new. */
export interface Webhook {
  /** The URL of the request. */
  url: string;
  /** Whether the bank may show something that it has not announced. */
  owed: boolean;
  /** The HTTP status of the last response; omitted without one. */
  lastStatus?: number;
  /** The real time of the last call. */
  lastAt?: string;
}

/** The connections of a clock. */
export interface Connections {
  /** Oldest first. */
  connections: Array<Connection>;
}

/** A connection of a clock. */
export interface OneConnection {
  connection: Connection;
}

/** The last calls of an app. */
export interface ConnectionCalls {
  /** Newest first. */
  calls: Array<ConnectionCall>;
}

/** A call that an app made with a connection. */
export interface ConnectionCall {
  /** The real time of the call. */
  at: string;
  /** The clock's time. */
  clockTime: string;
  /** The path after that of the protocol, such as `/transactions/sync`. */
  path: string;
  /** `200`, or Plaid's error code, or the HTTP status of SimpleFIN. */
  outcome: string;
  /** How long the call took. */
  milliseconds: number;
  /** How many transactions the response has, if it has a list of them. */
  rows?: number;
}

/** Your user and the token in use. */
export interface CurrentUser {
  /** Your user ID, the same at every sign-in. Opaque; starts with `user_`. */
  userId: string;
  /** One email address. */
  email: string;
  token: TokenInfo;
}

/** The token in use. */
export interface TokenInfo {
  /** `SESSION`: a token from a sign-in. `ACCESS`: an access token. */
  type: "ACCESS" | "SESSION";
  /** The real time at which the token expires. */
  expiresAt: string;
}

/** The new access token. */
export interface CreatedAccessToken {
  /** The token's ID, which isn't secret. It starts with `token_`. */
  id: string;
  /** The bearer token. It starts with `tka_`. */
  token: string;
  /** The name of the request. */
  name: string;
  /** Whether the token can call only operations that change nothing. */
  readOnly: boolean;
  /** The real time at which the token expires. */
  expiresAt: string;
}

/** Your live access tokens. */
export interface AccessTokens {
  /** Newest first. */
  tokens: Array<AccessToken>;
}

/** An access token, without its secret. */
export interface AccessToken {
  /** The token's ID, which isn't secret. It starts with `token_`. */
  id: string;
  /** Your own name for the token. */
  name: string;
  /** Whether the token can call only operations that change nothing. */
  readOnly: boolean;
  /** The real time at which the token was created. */
  createdAt: string;
  /** The real time at which the token expires. */
  expiresAt: string;
  /** The last day in UTC on which the token was used, if any. */
  lastUsedOn?: string;
}

/** One invalid field of the parameters. */
export interface Fault {
  /** The field, such as `goals[0].name`. `params` means all parameters. */
  path: string;
  /** The violated rule, for programs. */
  rule: string;
  /** The rule in words, for people. */
  message: string;
  /** The invalid value, if it is short and not a secret. */
  got?: string | number | boolean | null;
  /** The line of an invalid scenario, from 1. */
  line?: number;
}

/** The details of an error, by reason. */
export interface ReasonDetails {
  /** The body is not JSON, not UTF-8, or nested more than 64 levels deep. */
  PARSE_ERROR: Record<string, never>;
  /** The body is not a JSON-RPC 2.0 request, or the server doesn't serve this Host. Or the batch is empty, has more than 50 calls, has an `Idempotency-Key`, or its response could be too large. */
  INVALID_REQUEST: Record<string, never>;
  /** There is no operation with this name. */
  METHOD_NOT_FOUND: Record<string, never>;
  /** A parameter, or a combination of parameters, is invalid. */
  INVALID_PARAMS: {
    /** All invalid fields. Their order may change. */
    errors: Array<Fault>;
  };
  /** The token is missing, malformed, unknown, expired or revoked. */
  UNAUTHENTICATED: Record<string, never>;
  /** The access token is read-only, or the operation needs a token from a sign-in. */
  FORBIDDEN: Record<string, never>;
  /** You have no clock with this ID. It never existed, was deleted, or has another owner. */
  CLOCK_NOT_FOUND: Record<string, never>;
  /** The clock has expired, because it was created seven days ago or earlier. */
  CLOCK_EXPIRED: Record<string, never>;
  /** The time is before the clock's `frozenTime`. */
  TIME_BEFORE_CURRENT: {
    /** The clock's current simulated time. */
    currentFrozenTime: string;
  };
  /** The time is after the clock's `maxTime`. */
  TIME_AFTER_MAX: {
    /** The latest simulated time of the clock. */
    maxTime: string;
  };
  /** An item to cancel has already happened. `itemIds` has all such items. */
  ITEM_NOT_PENDING: {
    /** The IDs of the items that have already happened. */
    itemIds: Array<string>;
  };
  /** The code or link is wrong, used, expired or not the newest, or no attempts are left. The response doesn't say which. */
  LOGIN_REFUSED: Record<string, never>;
  /** An email was just sent to this address. */
  RESEND_TOO_SOON: {
    /** Retry the call after this many seconds. */
    retryAfterSeconds: number;
  };
  /** Too many live clocks, stored bytes, access tokens, connections, emails or sign-in calls. */
  RATE_LIMITED: {
    /** Retry the call after this many seconds. */
    retryAfterSeconds: number;
  };
  /** The mail server didn't accept the email, or the connection to it was lost. */
  MAIL_NOT_SENT: Record<string, never>;
  /** The database is unavailable, the server is overloaded or stopping, or its clock is wrong. */
  UNAVAILABLE: {
    /** Retry the call after this many seconds. */
    retryAfterSeconds: number;
  };
  /** A bug in the server. Its log has details under the same request ID. */
  INTERNAL: {
    /** Report this ID with the bug. It is also in the header `X-Request-Id`. */
    requestId: string;
  };
  /** The HTTP method is not POST. */
  METHOD_NOT_ALLOWED: Record<string, never>;
  /** The content type is not JSON, or the charset is not UTF-8. */
  UNSUPPORTED_MEDIA_TYPE: Record<string, never>;
  /** The body is larger than 1,048,576 bytes. */
  BODY_TOO_LARGE: Record<string, never>;
}

/** Why the server rejected a call. */
export type Reason = keyof ReasonDetails;

/** The parameters and the result of each operation. */
export interface Operations {
  createTestClock: { params: NewClock; result: OneClock };
  advanceTestClock: { params: AdvanceEntry; result: AdvancedClock };
  sendLoginCodeEmail: { params: SendEntry; result: Sent };
  loginByEmailVerification: { params: VerificationEntry; result: SignedIn };
  loginByEmailLink: { params: LinkEntry; result: SignedIn };
  logout: { params: LogoutEntry; result: Done };
  getTestClock: { params: GetEntry; result: OneClock };
  listTestClocks: { params: ListEntry; result: ClockPage };
  updateTestClock: { params: UpdateEntry; result: OneClock };
  deleteTestClock: { params: ClockParams; result: Done };
  forkTestClock: { params: ForkEntry; result: OneClock };
  amendTestClock: { params: AmendEntry; result: OneClock };
  listTestClockEvents: { params: EventsEntry; result: EventPage };
  getTestClockBalances: { params: BalancesEntry; result: Balances };
  checkTestClock: { params: CheckEntry; result: CheckResult };
  createTestClockFromScenario: { params: FromScenarioEntry; result: OneClock };
  reconcileTestClock: { params: ReconcileEntry; result: Reconciliation };
  expandScenario: { params: ExpandEntry; result: ExpandedScenario };
  scenarioFromStatement: { params: StatementEntry; result: StatementScenario };
  exportTestClock: { params: ExportEntry; result: ExportedClock };
  connectTestClock: { params: ConnectEntry; result: Connected };
  listTestClockConnections: { params: ClockParams; result: Connections };
  updateTestClockConnection: { params: UpdateConnectionEntry; result: OneConnection };
  listConnectionCalls: { params: ListCallsEntry; result: ConnectionCalls };
  disconnectTestClock: { params: ConnectionParams; result: Done };
  getCurrentUser: { params: NoParams; result: CurrentUser };
  createAccessToken: { params: CreateAccessTokenEntry; result: CreatedAccessToken };
  listAccessTokens: { params: NoParams; result: AccessTokens };
  revokeAccessToken: { params: RevokeAccessTokenEntry; result: Done };
  deleteCurrentUser: { params: NoParams; result: Done };
}

export type Method = keyof Operations;

/** How the client calls each operation. */
export const CALL_RULES: Readonly<
  Record<Method, { needsToken: boolean; isIdempotent: boolean; takesIdempotencyKey: boolean }>
> = {
  createTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: true },
  advanceTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: true },
  sendLoginCodeEmail: { needsToken: false, isIdempotent: false, takesIdempotencyKey: false },
  loginByEmailVerification: { needsToken: false, isIdempotent: false, takesIdempotencyKey: false },
  loginByEmailLink: { needsToken: false, isIdempotent: false, takesIdempotencyKey: false },
  logout: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
  getTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  listTestClocks: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  updateTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  deleteTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  forkTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: true },
  amendTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: true },
  listTestClockEvents: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  getTestClockBalances: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  checkTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  createTestClockFromScenario: { needsToken: true, isIdempotent: false, takesIdempotencyKey: true },
  reconcileTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  expandScenario: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  scenarioFromStatement: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  exportTestClock: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  connectTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
  listTestClockConnections: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  updateTestClockConnection: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  listConnectionCalls: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  disconnectTestClock: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
  getCurrentUser: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  createAccessToken: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
  listAccessTokens: { needsToken: true, isIdempotent: true, takesIdempotencyKey: false },
  revokeAccessToken: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
  deleteCurrentUser: { needsToken: true, isIdempotent: false, takesIdempotencyKey: false },
};

/** A method for each operation. */
export abstract class OperationMethods {
  /** Calls an operation by its name. */
  abstract call<M extends Method>(
    method: M,
    params: Operations[M]["params"],
    options?: CallOptions,
  ): Promise<Operations[M]["result"]>;

  /** Create a clock with its schedule. You own the clock, and it expires seven days after its creation. All parameters are optional. Items dated exactly at `frozenTime` have already happened. */
  createTestClock(params: NewClock = {}, options?: CallOptions): Promise<OneClock> {
    return this.call("createTestClock", params, options);
  }

  /** Move a clock forward. Items dated at or before the new `frozenTime` become posted. Advancing to the current `frozenTime` changes nothing, so you can retry a call whose response was lost. Time only moves forward; to rewind, fork the clock. Instead of a time, pass `by` or `next`. Both count from the clock's `frozenTime` at the moment when the call is applied, so a retry needs an idempotency key. A repeated call returns no events. With `frozenTime`, a key changes nothing. At most 500 events are returned; `moreEvents` says whether there are others. */
  advanceTestClock(params: AdvanceEntry, options?: CallOptions): Promise<AdvancedClock> {
    return this.call("advanceTestClock", params, options);
  }

  /** Email a six-digit code or a login link. `LOGIN_CODE` requires `SHORT_LIVED` and sends a code. `WEB_LOGIN_LINK` requires `LONG_LIVED` and sends a link. By default, an address can receive one email every 60 seconds. The response arrives after the mail server has accepted the email. It is the same for known and unknown addresses. */
  sendLoginCodeEmail(params: SendEntry, options?: CallOptions): Promise<Sent> {
    return this.call("sendLoginCodeEmail", params, options);
  }

  /** Exchange a code for a bearer token. A code works once, allows few attempts, and becomes invalid when a newer code is sent. The first sign-in of an address creates its user. All invalid codes get the same response. */
  loginByEmailVerification(params: VerificationEntry, options?: CallOptions): Promise<SignedIn> {
    return this.call("loginByEmailVerification", params, options);
  }

  /** Exchange the secret of a login link for a bearer token. The page of a login link calls this operation when you press its button. A link works once. All invalid links get the same response. */
  loginByEmailLink(params: LinkEntry, options?: CallOptions): Promise<SignedIn> {
    return this.call("loginByEmailLink", params, options);
  }

  /** Revoke the token in use, or with `everywhere` the tokens of all your sign-ins. Access tokens stay valid. To revoke one, call `revokeAccessToken`. Access tokens can't call this operation: it needs a token from a sign-in. */
  logout(params: LogoutEntry = {}, options?: CallOptions): Promise<Done> {
    return this.call("logout", params, options);
  }

  /** Return a clock, now or at a later instant. This never moves the clock. */
  getTestClock(params: GetEntry, options?: CallOptions): Promise<OneClock> {
    return this.call("getTestClock", params, options);
  }

  /** List your live clocks, newest first. Doesn't list expired clocks. Pass `nextCursor` as `cursor` to get the next page. With `labels` or `name`, one call searches at most 1,000 clocks. So a page can have fewer clocks than `limit`, or none, and still have a `nextCursor`. */
  listTestClocks(params: ListEntry = {}, options?: CallOptions): Promise<ClockPage> {
    return this.call("listTestClocks", params, options);
  }

  /** Change a clock's name, labels, opening balances, expectations and bank. Changes only the parameters that you pass. Each replaces the old value as a whole, and `null` removes it. This never moves the clock, and its items stay the same. */
  updateTestClock(params: UpdateEntry, options?: CallOptions): Promise<OneClock> {
    return this.call("updateTestClock", params, options);
  }

  /** Delete a clock. Deletes the clock and its schedule immediately. You can reuse its idempotency keys. */
  deleteTestClock(params: ClockParams, options?: CallOptions): Promise<Done> {
    return this.call("deleteTestClock", params, options);
  }

  /** Create a clock with the same schedule, at any instant of it. To rewind, fork at an earlier instant. The original doesn't change. The fork has all items of the original, including those that amendments added, its accounts, opening balances and expectations, and the same `maxTime`. It has its own IDs and expires seven days from now. */
  forkTestClock(params: ForkEntry, options?: CallOptions): Promise<OneClock> {
    return this.call("forkTestClock", params, options);
  }

  /** Add items to a clock, and cancel items that haven't happened yet. The past never changes: you can cancel only items after `frozenTime`. A new item that is dated exactly at the clock's `frozenTime` happens immediately. The call adds or cancels at least one item, and changes all or nothing. A clock holds at most 2,000 transactions and transfers, 100 goals, 500 contributions to one goal, 5,000 items in total, and 100 different currencies. The server never reuses the IDs of cancelled items. */
  amendTestClock(params: AmendEntry, options?: CallOptions): Promise<OneClock> {
    return this.call("amendTestClock", params, options);
  }

  /** List what happened to a clock, and what will happen. Returns events after `after`, up to and including `until`, in order of time. Among events of one instant, transactions come first, then transfers, then goals in the order of the request. An event after the clock's `frozenTime` is pending. The ID of an event never changes. Pass `nextCursor` as `cursor` to get the next page. */
  listTestClockEvents(params: EventsEntry, options?: CallOptions): Promise<EventPage> {
    return this.call("listTestClockEvents", params, options);
  }

  /** Return the balance of each currency and account at an instant, with its lowest and highest point. Returns one balance for each currency of the clock or of its opening balances, sorted by currency, and one for each account. Sums are exact. Items of one instant count together: the lowest and the highest balance are taken after all of them. `openingBalances` replaces those of the clock. This never moves the clock. */
  getTestClockBalances(params: BalancesEntry, options?: CallOptions): Promise<Balances> {
    return this.call("getTestClockBalances", params, options);
  }

  /** Check expectations about balances, goals, totals and transactions. Checks expectations, by default those of the clock, from its start to `until`, and returns a result for each, in their order. A violation names the first instant at which the expectation doesn't hold. A currency, account, category or goal that the clock doesn't have is rejected. This never moves the clock. */
  checkTestClock(params: CheckEntry, options?: CallOptions): Promise<CheckResult> {
    return this.call("checkTestClock", params, options);
  }

  /** Create a clock from a scenario. Expands an included scenario or your own in TOML, and creates a clock with as many items as a clock can hold. The clock keeps the scenario's title as its name, its opening balances, its expectations and its bank. Each fault of an invalid scenario has its `line`. */
  createTestClockFromScenario(params: FromScenarioEntry = {}, options?: CallOptions): Promise<OneClock> {
    return this.call("createTestClockFromScenario", params, options);
  }

  /** Compare the books of an app with what the bank showed. Compares the transactions and the balance that the app under test recorded with those of an account or a currency at `at`. Transactions match by every `id` that the bank ever gave them, and otherwise by amount and UTC date within `toleranceDays`, those with the same name first. Each matches once. A wrong sign is `changed`, and so is another amount of the only transaction with that name and date. A second copy of a matched transaction is `duplicated`, also as the pending payment that it was before. Pending payments may be there, but are never `missing`. A transfer counts for its accounts, and for a currency only if it crosses currencies. Nothing is stored. */
  reconcileTestClock(params: ReconcileEntry, options?: CallOptions): Promise<Reconciliation> {
    return this.call("reconcileTestClock", params, options);
  }

  /** Turn a scenario into the parameters of a clock. Reads a scenario in TOML, as the command `tickover clock create` does, and creates nothing. Pass `params` to `createTestClock`, and `expectations` to `checkTestClock`. Each fault of an invalid scenario has its `line`. */
  expandScenario(params: ExpandEntry, options?: CallOptions): Promise<ExpandedScenario> {
    return this.call("expandScenario", params, options);
  }

  /** Turn the file of a bank into a scenario. Reads a bank statement in CSV or OFX, as the command `tickover scenarios from` does, and creates nothing. Regular payments become recurrences, and all others keep their dates. Pass `text` to `createTestClockFromScenario`. */
  scenarioFromStatement(params: StatementEntry, options?: CallOptions): Promise<StatementScenario> {
    return this.call("scenarioFromStatement", params, options);
  }

  /** Export a clock as account statements for other programs. Returns a file with one statement for each account, or for each currency of a clock without any, the same as `tickover clock export`. `ofx` and `camt053` need at least one account, transaction or opening balance. `camt053` allows 5 decimals, and `hledger` 255. */
  exportTestClock(params: ExportEntry, options?: CallOptions): Promise<ExportedClock> {
    return this.call("exportTestClock", params, options);
  }

  /** Let a program that speaks SimpleFIN or Plaid read a clock. The program sees a bank whose time is the clock's `frozenTime`: the accounts and balances, and the transactions up to that instant. Give it the `setupToken` or the `publicToken`, which works once. A connection only reads, and ends with the clock. A clock can have 20 connections. */
  connectTestClock(params: ConnectEntry, options?: CallOptions): Promise<Connected> {
    return this.call("connectTestClock", params, options);
  }

  /** List the connections of a clock, oldest first. Lists connections whether or not a program uses them. Their secrets aren't shown again. */
  listTestClockConnections(params: ClockParams, options?: CallOptions): Promise<Connections> {
    return this.call("listTestClockConnections", params, options);
  }

  /** Change how the bank of a connection behaves. Replaces what you pass, and `null` removes it. The next sync of the app brings the difference. A new `callsPerDay` counts the calls that were made before. */
  updateTestClockConnection(params: UpdateConnectionEntry, options?: CallOptions): Promise<OneConnection> {
    return this.call("updateTestClockConnection", params, options);
  }

  /** List the last calls that an app made with a connection, newest first. Has the last 100 calls after the app claimed the connection. With several servers, calls appear after a second. */
  listConnectionCalls(params: ListCallsEntry, options?: CallOptions): Promise<ConnectionCalls> {
    return this.call("listConnectionCalls", params, options);
  }

  /** End a connection of a clock. The connection's secrets stop working immediately, on every server. */
  disconnectTestClock(params: ConnectionParams, options?: CallOptions): Promise<Done> {
    return this.call("disconnectTestClock", params, options);
  }

  /** Return your user and the token in use. Use it to check a token. */
  getCurrentUser(params: NoParams = {}, options?: CallOptions): Promise<CurrentUser> {
    return this.call("getCurrentUser", params, options);
  }

  /** Create a token for a program, such as a CI job. Use the token as a bearer token, for example in a CI job. Only this response contains it. A read-only token can call only operations that change nothing. You can have 50 live access tokens. Access tokens can't call this operation: it needs a token from a sign-in. */
  createAccessToken(params: CreateAccessTokenEntry, options?: CallOptions): Promise<CreatedAccessToken> {
    return this.call("createAccessToken", params, options);
  }

  /** List your live access tokens, newest first. Doesn't list expired tokens. Access tokens can't call this operation: it needs a token from a sign-in. */
  listAccessTokens(params: NoParams = {}, options?: CallOptions): Promise<AccessTokens> {
    return this.call("listAccessTokens", params, options);
  }

  /** Revoke an access token. The token stops working immediately, on every server. An unknown ID and the ID of another user's token get the same response. Access tokens can't call this operation: it needs a token from a sign-in. */
  revokeAccessToken(params: RevokeAccessTokenEntry, options?: CallOptions): Promise<Done> {
    return this.call("revokeAccessToken", params, options);
  }

  /** Delete your user, with all clocks, connections and tokens. This can't be undone. If you sign in again later, you are a new user. Access tokens can't call this operation: it needs a token from a sign-in. */
  deleteCurrentUser(params: NoParams = {}, options?: CallOptions): Promise<Done> {
    return this.call("deleteCurrentUser", params, options);
  }
}

/** More than a server ever sends. */
export const MAX_RESPONSE_BYTES = 16777216;

/** Settings of a private server for tests: nothing is limited, and emails are stored instead of sent. */
export const TEST_SETTINGS: Readonly<Record<string, string>> = {
  "TICKOVER_HOST": "127.0.0.1",
  "TICKOVER_PORT": "0",
  "TICKOVER_DATA_DIR": "data",
  "TICKOVER_MAIL_URL": "outbox:",
  "TICKOVER_LOG_LEVEL": "warning",
  "TICKOVER_RESEND_SECONDS": "1",
  "TICKOVER_SENDS_PER_HOUR": "0",
  "TICKOVER_SENDS_PER_HOUR_PER_NETWORK": "0",
  "TICKOVER_MAX_CLOCKS_PER_USER": "0",
  "TICKOVER_CLIENT_BURST": "0",
  "TICKOVER_CLIENT_REFILL": "0"
};
