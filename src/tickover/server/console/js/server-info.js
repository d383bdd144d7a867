// Information from the server outside of POST /rpc: its features, scenarios and development mailbox.

let features;

/** Return `{ mailbox, resendSeconds }`: whether there is a development mailbox, and the time between two emails. */
export function serverFeatures() {
  features ??= fetch("site.json", { credentials: "omit" })
    .then((response) => response.json())
    .catch(() => ({ mailbox: false, resendSeconds: 60 }));
  return features;
}

let scenarios;

/** Return the scenarios: `{ name, title, about, text, params }` with TOML text and params for createTestClock. Throw if that fails. */
export async function loadScenarios() {
  if (!scenarios) {
    const response = await fetch("scenarios.json", { credentials: "omit" });
    if (!response.ok) throw new Error("The server has no scenarios.");
    scenarios = await response.json();
  }
  return scenarios;
}

/** Return the newest email to an address, or null. */
export async function latestEmail(address) {
  const response = await fetch(`mailbox/latest?to=${encodeURIComponent(address)}`, {
    credentials: "omit",
    cache: "no-store",
  });
  return response.ok ? response.json() : null;
}
