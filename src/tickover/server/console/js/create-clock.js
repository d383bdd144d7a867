// Creates a clock exactly once, even after a double click or a lost response.

import { rename } from "./clock-names.js";
import { h, say } from "./dom.js";
import { formatWait } from "./format.js";
import { Away, call, Refusal } from "./rpc.js";
import { onEnd, sessionCheck } from "./session.js";

const MOST_LISTED = 20;
let lost = { text: null, key: null };
let isUnderWay = false;
onEnd(() => (lost = { text: null, key: null }));

// Without https, and elsewhere than on this machine, browsers have no randomUUID.
const newKey = () =>
  crypto.randomUUID?.() ??
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Create it, name it in this browser, and go there, unless the person has gone elsewhere. Throws Refusal or Away. */
export async function createClock(params, name) {
  if (isUnderWay) {
    say("Another clock is being created. Wait for it, then press again.", { error: true });
    return;
  }
  isUnderWay = true;
  const page = document.getElementById("main").firstElementChild;
  const isSame = sessionCheck();
  const text = JSON.stringify(params);
  const key = lost.text === text ? lost.key : newKey();
  lost = { text, key };
  try {
    const { clock } = await call("createTestClock", params, { headers: { "Idempotency-Key": key } });
    lost = { text: null, key: null };
    if (!isSame()) return;
    if (name) rename(clock.id, name);
    if (page.isConnected) location.hash = `#/clock/${clock.id}`;
    else say(`${name || "The clock"} was created, and is among your clocks.`);
  } finally {
    isUnderWay = false;
  }
}

/** What to tell a person whose clock was not created. */
export function whyNotCreated(error) {
  if (error instanceof Away)
    return "The server cannot be reached. Try again when it runs; you will not get two clocks.";
  if (!(error instanceof Refusal)) throw error;
  if (error.reason === "RATE_LIMITED") {
    return `You have as many clocks as you may. The oldest expires in ${formatWait(error.data.retryAfterSeconds * 1000)}; to make room now, delete one.`;
  }
  if (error.reason === "INVALID_PARAMS")
    return `The server refused ${error.data.errors.length === 1 ? "one field" : `${error.data.errors.length} fields`}.`;
  return error.message;
}

/** The faults that it named, each `{ path, message }`, or none. */
export const faultsOf = (error) =>
  error instanceof Refusal && error.reason === "INVALID_PARAMS" ? error.data.errors : [];

/** Faults with their paths, the first of them if they are very many. */
export function faultList(faults) {
  const rest = faults.length - MOST_LISTED;
  return (
    faults.length > 0 &&
    h(
      "ul",
      { class: "faults" },
      faults.slice(0, MOST_LISTED).map(({ path, message }) => h("li", {}, h("code", {}, path), ` ${message}`)),
      rest > 0 && h("li", {}, `and ${rest} more`),
    )
  );
}
