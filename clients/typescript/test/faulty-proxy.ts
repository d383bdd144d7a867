/** An HTTP server in front of a real one, which breaks some of the calls. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export type Fault = "lose the response" | "unavailable" | "never respond" | "html" | "redirect" | "endless" | "slow";

export class FaultyProxy {
  /** The faults of the next calls. Later calls are forwarded. */
  faults: Fault[] = [];
  calls = 0;
  readonly #server: Server;

  private constructor(readonly target: string) {
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.calls++;
    const fault = this.faults.shift();
    if (fault === "never respond") return;
    if (fault === "html") outgoing.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Hello</h1>");
    else if (fault === "redirect") outgoing.writeHead(308, { Location: `${this.target}/rpc` }).end();
    else if (fault === "slow") dripSpaces(outgoing.writeHead(200));
    else if (fault === "endless")
      Readable.from(spaces())
        .on("error", () => {})
        .pipe(outgoing.writeHead(200));
    else if (fault === "unavailable") {
      const error = { code: -32050, message: "Busy.", data: { reason: "UNAVAILABLE", retryAfterSeconds: 0.01 } };
      outgoing.writeHead(503).end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
    } else {
      const response = await forward(incoming, this.target);
      if (fault === "lose the response") incoming.socket.destroy();
      else response.pipe(outgoing.writeHead(response.statusCode ?? 500, response.headers));
    }
  }
}

/** Sends a space every 20 milliseconds until the client disconnects. */
function dripSpaces(outgoing: ServerResponse): void {
  const timer = setInterval(() => outgoing.write(" "), 20);
  outgoing.once("close", () => clearInterval(timer));
}

function* spaces(): Generator<string> {
  for (;;) yield " ".repeat(100_000);
}

function forward(incoming: IncomingMessage, target: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(target);
    const options = { method: incoming.method, headers: { ...incoming.headers, host } };
    const outgoing = request(target + incoming.url, options, resolve).once("error", reject);
    incoming.pipe(outgoing);
  });
}
