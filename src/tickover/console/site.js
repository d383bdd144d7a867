// Names of clocks. The API has none, so they stay in this browser.

const KEY = "tickover-names";
const MOST_KEPT = 500;

function all() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // a damaged entry, or a browser that keeps nothing
  }
}

/** The end of an id is what tells it from others. */
export const shortId = (id) => `clock …${id.slice(-6)}`;

export function nameOf(id) {
  const name = all()[id];
  return typeof name === "string" && name ? name : shortId(id);
}

/** Without a name it goes by its short id again. */
export function rename(id, name) {
  const { [id]: _, ...others } = all();
  // Ids begin with the time of creation, so the first are the oldest.
  const kept = Object.entries({ ...others, ...(name.trim() && { [id]: name.trim() }) }).sort().slice(-MOST_KEPT);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // It goes by its short id then.
  }
}

// What this server has beside POST /rpc: the development mailbox, and the scenarios that come with it.

/** Whether mail stays in the development outbox, so that there is a mailbox. */
export const hasMailbox = fetch("/site.json", { credentials: "omit" })
  .then((answer) => answer.json())
  .then((site) => site.mailbox, () => false);

let known;

/** The scenarios, each `{ name, title, about, params }` with what createTestClock takes. Throws without a server. */
export async function scenarios() {
  if (!known) {
    const answer = await fetch("/scenarios.json", { credentials: "omit" });
    if (!answer.ok) throw new Error("There are no scenarios.");
    known = await answer.json();
  }
  return known;
}

/** The newest letter to an address, or null. */
export async function latestLetter(email) {
  const answer = await fetch(`/mailbox/latest?to=${encodeURIComponent(email)}`, { credentials: "omit", cache: "no-store" });
  return answer.ok ? answer.json() : null;
}
