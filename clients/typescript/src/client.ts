import { Connection, type Limits } from "./connection.js";
import { InvalidResponse, NoCode, Rejection, Unreachable } from "./errors.js";
import {
  CALL_RULES,
  type CallOptions,
  type Done,
  type Method,
  OperationMethods,
  type Operations,
  type SignedIn,
} from "./generated.js";
import { readJson, readResult } from "./response.js";

const FIRST_DELAY_SECONDS = 0.1;
const MAX_DELAY_SECONDS = 3;
const TOKEN = /^[!-~]+$/;
const IDEMPOTENCY_KEY = /^[!-~]([ -~]{0,253}[!-~])?$/;

export interface TickoverOptions {
  /** The server's address. The default is http://127.0.0.1:8000. */
  url?: string;
  /** A token of a sign-in, or an access token. */
  token?: string | undefined;
  /** How long to wait for the result of a call, with all its attempts. The default is 15. */
  timeoutSeconds?: number;
  /** How often to send a call again that is safe to retry. The default is 2. */
  retries?: number;
}

/** An email in the development mailbox. */
export interface Email {
  /** Newer emails have greater ids. */
  id: string;
  to: string;
  subject: string;
  sentAt: string;
  code?: string;
  loginUrl?: string;
  text: string;
}

/** The operations that return pages. */
export type PagedMethod = {
  [M in Method]: Operations[M] extends { params: { cursor?: string }; result: { nextCursor?: string } } ? M : never;
}[Method];

let lastId = 0;

/** A client of one server. It has a method for each operation. */
export class Tickover extends OperationMethods {
  readonly #connection: Connection;
  readonly #timeoutSeconds: number;
  readonly #retries: number;
  #token: string | undefined;

  constructor({ url = "http://127.0.0.1:8000", token, timeoutSeconds = 15, retries = 2 }: TickoverOptions = {}) {
    super();
    if (!(Number.isInteger(retries) && retries >= 0)) throw new TypeError("retries must be 0 or more");
    if (!(timeoutSeconds > 0)) throw new TypeError("timeoutSeconds must be greater than 0");
    this.#connection = new Connection(url);
    this.#timeoutSeconds = timeoutSeconds;
    this.#retries = retries;
    this.token = token;
  }

  /** The server's address without a trailing slash. */
  get url(): string {
    return this.#connection.url;
  }

  /** The bearer token, or undefined if the client isn't signed in. */
  get token(): string | undefined {
    return this.#token;
  }

  set token(token: string | undefined) {
    if (token !== undefined && !TOKEN.test(token)) {
      throw new TypeError("a token must consist of printable ASCII characters without spaces");
    }
    this.#token = token;
  }

  override async call<M extends Method>(
    method: M,
    params: Operations[M]["params"],
    options: CallOptions = {},
  ): Promise<Operations[M]["result"]> {
    const { needsToken, isIdempotent, takesIdempotencyKey } = CALL_RULES[method];
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (takesIdempotencyKey) headers["Idempotency-Key"] = checkKey(options.idempotencyKey ?? newKey());
    else if (options.idempotencyKey !== undefined) throw new TypeError(`${method} takes no idempotency key`);
    if (needsToken && this.#token !== undefined) headers.Authorization = `Bearer ${this.#token}`;
    const id = ++lastId;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const send = async (limits: Limits) =>
      readResult(await this.#connection.send("/rpc", { method: "POST", headers, body }, limits), id);
    // A retry that finds no clock means that an earlier attempt deleted it.
    const resultIfGone: Done | undefined = method === "deleteTestClock" ? { message: "ok" } : undefined;
    const result = await this.#retry(send, isIdempotent || takesIdempotencyKey, options.signal, resultIfGone);
    return result as Operations[M]["result"];
  }

  /** Requests one page after the other. `pages("listTestClocks")` starts with the newest clocks. */
  async *pages<M extends PagedMethod>(
    method: M,
    params: Operations[M]["params"],
    options?: CallOptions,
  ): AsyncGenerator<Operations[M]["result"], void, undefined> {
    let cursor = params.cursor;
    const requested = new Set<string | undefined>();
    do {
      if (requested.has(cursor)) throw repeatedCursor(this.url);
      requested.add(cursor);
      const page = await this.call(method, cursor === undefined ? params : { ...params, cursor }, options);
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Sends a six-digit code to an email address. */
  async sendCode(email: string): Promise<void> {
    await this.sendLoginCodeEmail({ email, loginCodeType: "SHORT_LIVED", emailType: "LOGIN_CODE" });
  }

  /**
   * Sends a code and signs in with it. The code is read from the development mailbox.
   * If it is too soon for another code, uses the last one, unless it was used already.
   */
  async signIn(email: string): Promise<SignedIn> {
    const tooSoon = await this.sendCode(email).catch((error: unknown) => {
      if (error instanceof Rejection && error.is("RESEND_TOO_SOON")) return error;
      throw error;
    });
    const code = (await this.latestEmail(email))?.code;
    if (code === undefined) throw tooSoon ?? new NoCode(email);
    try {
      return await this.logIn(email, code);
    } catch (error) {
      throw tooSoon && error instanceof Rejection && error.is("LOGIN_REFUSED") ? tooSoon : error;
    }
  }

  /** Signs in with a code. The client sends the token with later calls. */
  async logIn(email: string, code: string): Promise<SignedIn> {
    const signedIn = await this.loginByEmailVerification({ email, code, authenticationMethod: "EMAIL_CODE" });
    this.token = signedIn.token;
    return signedIn;
  }

  /** Revokes the token and removes it from the client. */
  async logOut(): Promise<void> {
    await this.logout();
    this.token = undefined;
  }

  /** Returns the newest email to this address, or null if the development mailbox has none or is disabled. */
  async latestEmail(email: string): Promise<Email | null> {
    const path = `/mailbox/latest?to=${encodeURIComponent(email)}`;
    const response = await this.#retry((limits) => this.#connection.send(path, {}, limits), true);
    if (response.status === 404 || response.status === 400) return null;
    return readJson(response) as Email;
  }

  /** Sends until there is a result. Retries if the server was unreachable or unavailable, and if a retry is safe. */
  async #retry<T>(
    send: (limits: Limits) => Promise<T>,
    isIdempotent: boolean,
    signal?: AbortSignal,
    resultIfGone?: T,
  ): Promise<T> {
    const seconds = this.#timeoutSeconds;
    const limits = { timeout: AbortSignal.timeout(seconds * 1000), seconds, signal };
    const deadline = performance.now() + seconds * 1000;
    let mayBeDone = false;
    for (let retries = 0; ; retries++) {
      try {
        return await send(limits);
      } catch (error) {
        const isGone = error instanceof Rejection && error.is("CLOCK_NOT_FOUND");
        if (mayBeDone && isGone && resultIfGone !== undefined) return resultIfGone;
        const isUnavailable = error instanceof Rejection && error.is("UNAVAILABLE");
        if (!isUnavailable && !(error instanceof Unreachable)) throw error;
        const mayHaveArrived = isUnavailable || error.mayHaveArrived;
        if (retries === this.#retries || (mayHaveArrived && !isIdempotent)) throw error;
        mayBeDone ||= mayHaveArrived;
        const asked = isUnavailable ? error.details.retryAfterSeconds : 0;
        const delay = Math.min(asked || FIRST_DELAY_SECONDS * 2 ** retries, MAX_DELAY_SECONDS) * 1000;
        if (performance.now() + delay >= deadline) throw error;
        await wait(delay, signal);
      }
    }
  }
}

function newKey(): string {
  // crypto.randomUUID is missing on pages without TLS.
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join("");
}

function checkKey(key: string): string {
  if (IDEMPOTENCY_KEY.test(key)) return key;
  throw new TypeError("an idempotency key must have 1 to 255 printable ASCII characters and no space at either end");
}

function repeatedCursor(url: string): InvalidResponse {
  return new InvalidResponse(
    `${url} returned the cursor of an earlier page, so the pages would never end. ` +
      "Check for a faulty proxy in front of the server.",
  );
}

function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", cancel);
  });
}
