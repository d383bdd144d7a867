// What the server offers besides POST /rpc: its features, scenarios and development mailbox.

let about;

/** `{ mailbox, resendSeconds }`: whether mail stays in the development outbox, and how long the next letter has to wait. */
export function site() {
  about ??= fetch("site.json", { credentials: "omit" })
    .then((answer) => answer.json())
    .catch(() => ({ mailbox: false, resendSeconds: 60 }));
  return about;
}

let gallery;

/** The scenarios, each `{ name, title, about, params }` with what createTestClock takes. Throws without a server. */
export async function scenarios() {
  if (!gallery) {
    const answer = await fetch("scenarios.json", { credentials: "omit" });
    if (!answer.ok) throw new Error("There are no scenarios.");
    gallery = await answer.json();
  }
  return gallery;
}

/** The newest letter to an address, or null. */
export async function latestLetter(email) {
  const answer = await fetch(`mailbox/latest?to=${encodeURIComponent(email)}`, {
    credentials: "omit",
    cache: "no-store",
  });
  return answer.ok ? answer.json() : null;
}
