/** The client: `Tickover`, its errors, and the types of parameters and results. */
export { type Email, type PagedMethod, Tickover, type TickoverOptions } from "./client.js";
export { InvalidResponse, NoCode, Rejection, Unreachable } from "./errors.js";
export type * from "./generated.js";
