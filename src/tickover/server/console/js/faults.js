// The faults in an error response: one for each invalid field.

import { h } from "./dom.js";
import { RpcError } from "./rpc.js";

const MAX_LISTED_FAULTS = 20;

/** Return the faults in an error, each `{ path, message }`. */
export const faultsIn = (error) =>
  error instanceof RpcError && error.reason === "INVALID_PARAMS" ? error.data.errors : [];

/** List faults with their paths. */
export function faultList(faults) {
  const rest = faults.length - MAX_LISTED_FAULTS;
  return (
    faults.length > 0 &&
    h(
      "ul",
      { class: "faults" },
      faults.slice(0, MAX_LISTED_FAULTS).map(({ path, message }) => h("li", {}, h("code", {}, path), ` ${message}`)),
      rest > 0 && h("li", {}, `and ${rest} more`),
    )
  );
}
