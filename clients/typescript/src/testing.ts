/** A private server for tests, for Node.js. `await start()` runs `tickover serve` until `stop()`. */
import { AssertionError } from "node:assert";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createHmac, randomUUID } from "node:crypto";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Email, Tickover } from "./client.js";
import { Rejection } from "./errors.js";
import {
  type Event,
  type InstantInput,
  type ReconcileEntry,
  type Reconciliation,
  type Snapshot,
  TEST_SETTINGS,
} from "./generated.js";

const START_SECONDS = 30;
const STOP_SECONDS = 20;
const MAX_RESEND_SECONDS = 5;
const POLL_SECONDS = 0.05;
const MAX_OUTPUT = 4000;
const MAX_DIFFERENCES = 10;

export interface StartOptions {
  /** Use this running server instead of starting one. The default is TICKOVER_URL. It needs the development mailbox. */
  url?: string | undefined;
  /** The program, with its first arguments. The default is ["tickover"]. */
  command?: readonly string[];
  /** Settings of the server, for example { TICKOVER_MAX_CLOCKS_PER_USER: "5" }. */
  settings?: Readonly<Record<string, string>>;
}

/** Starts a server, or uses the one that `url` or TICKOVER_URL names. */
export async function start(options: StartOptions = {}): Promise<Server> {
  const url = options.url ?? process.env.TICKOVER_URL;
  if (url) return new Server(url, async () => {});
  const folder = await mkdtemp(join(tmpdir(), "tickover-"));
  const [program = "tickover", ...first] = options.command ?? [];
  const log = await open(join(folder, "output.txt"), "w");
  const child = spawn(program, [...first, "serve", "--attached"], {
    cwd: folder,
    env: { ...withoutSettings(process.env), ...TEST_SETTINGS, ...options.settings },
    // The server stops when its standard input ends, so it also ends if this process is killed.
    stdio: ["pipe", "pipe", log.fd],
    // Ctrl-C in the terminal must not stop it before the tests end.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  const stop = async () => {
    child.ref();
    child.stdin?.end();
    await Promise.race([ended, sleep(STOP_SECONDS * 1000, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const server = new Server(await readUrl(child, join(folder, "output.txt")), stop);
    // A test run that forgets to stop the server can still end.
    for (const handle of [child, child.stdin, child.stdout]) (handle as { unref?: () => void } | null)?.unref?.();
    return server;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    await log.close();
  }
}

/** A server with a development mailbox, so that tests can sign in any user. */
export class Server {
  readonly url: string;
  readonly #reader: Tickover;
  readonly #stop: () => Promise<void>;
  readonly #returned = new Map<string, string>();

  constructor(url: string, stop: () => Promise<void>) {
    this.#reader = new Tickover({ url });
    this.url = this.#reader.url;
    this.#stop = stop;
  }

  /** Returns a client signed in with this email address, or with a new one. */
  async client(email: string = this.address()): Promise<Tickover> {
    const client = new Tickover({ url: this.url });
    await signIn(client, email);
    // `waitForEmail` returns only emails that the caller requests.
    const latest = await this.#reader.latestEmail(email);
    if (latest) this.#returned.set(latest.to, latest.id);
    return client;
  }

  /** Returns a new email address. */
  address(): string {
    return `user-${randomUUID()}@example.test`;
  }

  /** Returns the newest email to an address, once. Waits until a new one arrives. */
  async waitForEmail(email: string, timeoutSeconds = 5): Promise<Email> {
    const deadline = performance.now() + timeoutSeconds * 1000;
    for (;;) {
      const latest = await this.#reader.latestEmail(email);
      if (latest && this.#returned.get(latest.to) !== latest.id) {
        this.#returned.set(latest.to, latest.id);
        return latest;
      }
      if (performance.now() >= deadline)
        throw new Error(`No new email to ${email} arrived within ${timeoutSeconds} seconds.`);
      await sleep(POLL_SECONDS * 1000);
    }
  }

  /** Stops the server and deletes its data. Does nothing if `start` didn't start it. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}

/**
 * Sets the time of the app under test to the clock's time. Returns a function that advances the clock, and then the app.
 * `setTime` is, for example, `(at) => page.clock.setFixedTime(at)` of Playwright.
 */
export async function followClock(
  client: Tickover,
  id: string,
  setTime: (at: Date) => unknown,
): Promise<(frozenTime: string | Date) => Promise<Snapshot>> {
  await setTime(new Date((await client.getTestClock({ id })).clock.frozenTime));
  return async (frozenTime) => {
    const { clock } = await client.advanceTestClock({ id, frozenTime });
    await setTime(new Date(clock.frozenTime));
    return clock;
  };
}

/** Waits until the bank has called the webhooks of the clock's connections for all that is new. */
export async function settle(client: Tickover, id: string, { timeoutSeconds = 10 } = {}): Promise<void> {
  const end = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    const { connections } = await client.listTestClockConnections({ id });
    const owed = connections.find((connection) => connection.webhook?.owed)?.webhook;
    if (!owed) return;
    if (performance.now() > end) {
      const status = owed.lastStatus ?? "no response";
      throw new AssertionError({ message: `The webhook ${owed.url} doesn't take a call of the bank: ${status}.` });
    }
    await sleep(POLL_SECONDS * 1000);
  }
}

/** What the app recorded. The amount is negative if money went out. `date` is a day in UTC. */
export type BooksRow = { amount: number; name?: string; id?: string } & ({ at: InstantInput } | { date: string });

export interface ReconcileOptions extends Omit<ReconcileEntry, "id" | "observed"> {
  /** The balance that the app shows. */
  balance?: number;
}

/** Compares the books of the app with what the bank showed. Throws an AssertionError with the differences, if any. */
export async function reconcile(
  client: Tickover,
  id: string,
  rows: Iterable<BooksRow>,
  { balance, ...options }: ReconcileOptions = {},
): Promise<void> {
  const transactions = Array.from(rows, (row) => {
    if (!("date" in row)) return row;
    const { date, ...others } = row;
    return { ...others, at: `${date}T00:00:00Z` };
  });
  const observed = balance === undefined ? { transactions } : { transactions, balance };
  const result = await client.reconcileTestClock({ id, observed, ...options });
  if (result.ok) return;
  const found = listDifferences(result);
  const more = found.length > MAX_DIFFERENCES ? [`… ${found.length - MAX_DIFFERENCES} more`] : [];
  throw new AssertionError({ message: [...found.slice(0, MAX_DIFFERENCES), ...more].join("\n") });
}

/** Returns the differences as sentences, in order of time. The rows of the app count from 1. */
function listDifferences({ missing, changed, duplicated, unexpected, balance }: Reconciliation): string[] {
  const describe = ({ name, amount }: { name?: string; amount: number }) => (name ? `${name}, ${amount}` : `${amount}`);
  const dated = [
    ...missing.map((item) => ({ at: item.at, text: `The app has no row for ${describe(item)}.` })),
    ...changed.map(({ expected, observed, fields }) => {
      const changes = fields.map((field) => `${field} ${observed[field]} instead of ${expected[field]}`).join(", ");
      return { at: expected.at, text: `Row ${observed.index + 1} for ${describe(expected)} has ${changes}.` };
    }),
    ...duplicated.map((row) => ({ at: row.at, text: `Row ${row.index + 1} is a second copy of ${describe(row)}.` })),
    ...unexpected.map((row) => ({ at: row.at, text: `Row ${row.index + 1} isn't at the bank: ${describe(row)}.` })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const found = dated.map(({ at, text }) => `${at}  ${text}`);
  if (balance && balance.observed !== balance.expected)
    found.push(`The balance is ${balance.observed} instead of ${balance.expected}.`);
  return found;
}

export interface WebhooksOptions {
  /** The URL of the handler, or a function like those of web frameworks. */
  to: string | ((request: Request) => Response | Promise<Response>);
  /** The signing secret: whsec_ and 24 to 64 bytes in base64. */
  secret: string;
  /** The probability that an event arrives twice. */
  duplicate?: number;
  /** The probability that an event overtakes those before it. */
  reorder?: number;
  /** The probability that an event arrives with the next delivery. */
  delay?: number;
  /** The same seed makes the same faults. */
  seed?: number;
}

/** Delivers the events of a clock as webhooks, signed as in Standard Webhooks. */
export class Webhooks {
  readonly #client: Tickover;
  readonly #id: string;
  readonly #options: WebhooksOptions;
  readonly #key: Buffer;
  readonly #random: () => number;
  #after: string | undefined;
  #seen = new Set<string>();
  #delayed: Event[] = [];

  constructor(client: Tickover, id: string, options: WebhooksOptions) {
    this.#client = client;
    this.#id = id;
    this.#options = options;
    this.#key = decodeSecret(options.secret);
    this.#random = randomOf(options.seed ?? 0);
  }

  /** Sends the events since the last delivery, in order, and returns the responses. */
  async deliver(): Promise<{ event: Event; response: Response }[]> {
    const events = this.#arrange(await this.#newEvents());
    const deliveries = [];
    try {
      for (const event of events) deliveries.push({ event, response: await this.#post(event) });
    } finally {
      // If the handler fails, the next delivery starts with this event.
      this.#delayed.unshift(...events.slice(deliveries.length));
    }
    return deliveries;
  }

  async #newEvents(): Promise<Event[]> {
    const found: Event[] = [];
    const params = this.#after === undefined ? { id: this.#id } : { id: this.#id, after: this.#after };
    for await (const page of this.#client.pages("listTestClockEvents", params)) found.push(...page.events);
    const events = found.filter((event) => !this.#seen.has(event.id));
    this.#seen = new Set(found.map((event) => event.id));
    // An amendment may still add events at the newest instant.
    this.#after = [...new Set(found.map((event) => event.at))].at(-2) ?? this.#after;
    return events;
  }

  #arrange(events: Event[]): Event[] {
    const { duplicate = 0, reorder = 0, delay = 0 } = this.#options;
    const arranged = this.#delayed.splice(0);
    for (const event of events) {
      if (this.#random() < delay) {
        this.#delayed.push(event);
        continue;
      }
      const place = this.#random() < reorder ? 0 : arranged.length;
      arranged.splice(place, 0, ...(this.#random() < duplicate ? [event, event] : [event]));
    }
    return arranged;
  }

  async #post(event: Event): Promise<Response> {
    const { to } = this.#options;
    const data = { clockId: this.#id, event };
    const body = JSON.stringify({ type: event.type, timestamp: event.at, data });
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", this.#key).update(`${event.id}.${timestamp}.${body}`).digest("base64");
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": event.id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": `v1,${signature}`,
    };
    const init = { method: "POST", headers, body };
    if (typeof to !== "string") return to(new Request("http://app.test/", init));
    return fetch(to.includes("://") ? to : `http://${to}`, init);
  }
}

function decodeSecret(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (!secret.startsWith("whsec_") || key.length < 24 || key.length > 64)
    throw new TypeError("invalid signing secret; use whsec_ and 24 to 64 random bytes in base64");
  return key;
}

/** Returns a generator of numbers from 0 to 1 that depend only on the seed. */
function randomOf(seed: number): () => number {
  let count = 0;
  return () => createHash("sha256").update(`${seed}:${count++}`).digest().readUInt32BE() / 2 ** 32;
}

function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("TICKOVER_")));
}

/** Returns the URL that a ready server prints on its first line. */
async function readUrl(child: ChildProcess, output: string): Promise<string> {
  const line = await new Promise<string | Error>((resolve) => {
    const timer = setTimeout(
      () => resolve(new Error(`was not ready within ${START_SECONDS} seconds`)),
      START_SECONDS * 1000,
    );
    const finish = (outcome: string | Error) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.includes("\n")) finish(printed);
    });
    child.once("error", (error) => finish(new Error(`didn't start: ${error.message}`)));
    child.once("close", (code) => finish(new Error(`didn't start: it exited with code ${code}`)));
  });
  if (typeof line === "string") {
    try {
      return String((JSON.parse(line) as { url: string }).url);
    } catch {
      throw new Error(`The Tickover server didn't start. It printed: ${line}`);
    }
  }
  const missing = "Install it from a checkout with pip install 'PATH[server]', or pass its path as `command`.";
  const last = (await readFile(output, "utf8")).slice(-MAX_OUTPUT).trim();
  throw new Error(`The Tickover server ${line.message}. ${last ? `Last output:\n${last}` : missing}`);
}

/** Signs in. Waits first if an email was just sent to the address and its code was used. */
async function signIn(client: Tickover, email: string): Promise<void> {
  try {
    await client.signIn(email);
  } catch (error) {
    if (!(error instanceof Rejection && error.is("RESEND_TOO_SOON"))) throw error;
    const seconds = error.details.retryAfterSeconds;
    if (seconds > MAX_RESEND_SECONDS) throw error;
    await sleep(seconds * 1000);
    await client.signIn(email);
  }
}
