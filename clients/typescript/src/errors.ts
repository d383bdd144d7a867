import type { Fault, Reason, ReasonDetails } from "./generated.js";

const MAX_LISTED_FAULTS = 10;

/** The server rejected the call. The message lists the invalid fields. Compare `reason`, or narrow the type of `details` with `is`. */
export class Rejection<R extends Reason = Reason> extends Error {
  override readonly name = "Rejection";

  constructor(
    readonly reason: R,
    message: string,
    /** The other members of the error's `data`. */
    readonly details: ReasonDetails[R],
    /** The JSON-RPC code. Several reasons can share one. */
    readonly code: number,
  ) {
    super([message, ...faultLines(faultsOf(details))].join("\n"));
  }

  /** Whether this is the reason. If so, `details` has the type of that reason. */
  is<Wanted extends Reason>(reason: Wanted): this is Rejection<Wanted> {
    return (this.reason as Reason) === reason;
  }

  /** The invalid fields, if the reason is INVALID_PARAMS. */
  get faults(): readonly Fault[] {
    return faultsOf(this.details);
  }
}

function faultsOf(details: object): readonly Fault[] {
  return "errors" in details ? (details.errors as Fault[]) : [];
}

/** Returns a line for each of the first faults, and the number of the others. */
function faultLines(faults: readonly Fault[]): string[] {
  const lines = faults.slice(0, MAX_LISTED_FAULTS).map(({ path, message }) => `  ${path} ${message}`);
  return faults.length > lines.length ? [...lines, `  and ${faults.length - lines.length} more`] : lines;
}

/** There was no response: the connection failed, broke or timed out. `cause` has the error of fetch. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor(
    message: string,
    /** Whether the server may have processed the call. */
    readonly mayHaveArrived: boolean,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** The response isn't from a Tickover server, or this client can't decode it. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}

/** The development mailbox has no code for an address, for example because the server sends real emails. */
export class NoCode extends Error {
  override readonly name = "NoCode";

  constructor(email: string) {
    super(
      `The development mailbox has no code for ${email}. If the server sends real emails (TICKOVER_MAIL_URL isn't ` +
        "outbox:), pass the code to logIn. After too many wrong codes, use another address.",
    );
  }
}
