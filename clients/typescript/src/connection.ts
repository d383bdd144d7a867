import { InvalidResponse, Unreachable } from "./errors.js";
import { MAX_RESPONSE_BYTES } from "./generated.js";
import type { HttpResponse } from "./response.js";

/** Codes of errors before the request was sent. Node.js sets them; browsers and Deno don't say why fetch failed. */
const NEVER_ARRIVED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What can end a call early, with all its attempts. */
export interface Limits {
  timeout: AbortSignal;
  /** The seconds of the timeout. */
  seconds: number;
  /** The caller's signal. */
  signal?: AbortSignal | undefined;
}

/** Sends HTTP requests to one server. */
export class Connection {
  readonly url: string;

  constructor(url: string) {
    this.url = parseUrl(url);
  }

  /** Returns the response. Throws Unreachable, InvalidResponse, or the reason of the caller's signal if it was aborted. */
  async send(path: string, request: RequestInit, { timeout, seconds, signal }: Limits): Promise<HttpResponse> {
    const url = this.url + path;
    try {
      const response = await fetch(url, {
        ...request,
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const body = await readText(response);
      return { url, status: response.status, redirectsTo: redirectTarget(response), body };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof InvalidResponse) throw error;
      throw this.#unreachable(error, timeout.aborted ? seconds : undefined);
    }
  }

  #unreachable(error: unknown, timeoutSeconds?: number): Unreachable {
    if (timeoutSeconds !== undefined) {
      const message = `${this.url} didn't respond within ${timeoutSeconds} seconds.`;
      return new Unreachable(`${message} Use a longer timeout, or try again later.`, true, error);
    }
    const code = codeOf(error);
    const hint = "Check that the server is running and that the URL is right. `tickover serve` starts a server.";
    const message = `Can't get a response from ${this.url}${code && ` (${code})`}. ${hint}`;
    return new Unreachable(message, !NEVER_ARRIVED.has(code), error);
  }
}

function parseUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !["http:", "https:"].includes(parsed.protocol) || parsed.search || parsed.hash) {
    throw new TypeError(`invalid server URL '${url}'; use a URL such as http://127.0.0.1:8000`);
  }
  if (parsed.username || parsed.password) throw new TypeError("a server URL can't contain a user name or a password");
  return parsed.href.replace(/\/+$/, "");
}

/** Returns the body. Throws InvalidResponse if it is larger than a Tickover server ever sends. */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    size += read.value.length;
    if (size > MAX_RESPONSE_BYTES) {
      await reader?.cancel();
      const limit = `more than ${MAX_RESPONSE_BYTES / 2 ** 20} MiB`;
      const hint = "Check that the URL is the address of a Tickover server.";
      throw new InvalidResponse(`${response.url} sent a response of ${limit}. ${hint}`);
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Returns the target of a redirect, an empty text if the browser hides it, or null for other responses. */
function redirectTarget(response: Response): string | null {
  if (response.type === "opaqueredirect") return "";
  const isRedirect = response.status >= 300 && response.status < 400;
  return isRedirect ? (response.headers.get("location") ?? "") : null;
}

/** Returns the code of the innermost error that has one. With several addresses, Node.js nests their errors. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
    if (inner instanceof Error && "code" in inner && typeof inner.code === "string") return inner.code;
  }
  return "";
}
