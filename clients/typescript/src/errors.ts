import type { Fault, Reason, ReasonDetails } from "./generated.js";

/** The server rejected the call. Compare `reason`, or narrow the type of `details` with `is`. */
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
    super(message);
  }

  /** Whether this is the reason. If so, `details` has the type of that reason. */
  is<Wanted extends Reason>(reason: Wanted): this is Rejection<Wanted> {
    return (this.reason as Reason) === reason;
  }

  /** The invalid fields, if the reason is INVALID_PARAMS. */
  get faults(): readonly Fault[] {
    return "errors" in this.details ? (this.details.errors as Fault[]) : [];
  }
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
