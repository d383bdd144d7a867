// The router: shows the page for the URL fragment and the header with the signed-in user.

import "./api-page.js";
import "./clock-page.js";
import "./clocks-page.js";
import { h, say, show } from "./dom.js";
import "./mailbox-page.js";
import "./request-inspector.js";
import { Away, Refusal, signOut } from "./rpc.js";
import { site } from "./server-info.js";
import { onSessionChange, session } from "./session.js";
import "./sign-in-page.js";

// Each page is a custom element. What stands behind the second slash is in its property `argument`, and what stands
// behind a question mark in `query`; it sets the title itself if it knows a better one. A page with `queryChanged` is
// kept when nothing but the query changes. Pages that are `open` need no sign-in.
const PAGES = {
  "": { element: "tick-clocks", title: "Clocks" },
  clocks: { element: "tick-clocks", title: "Clocks" },
  clock: { element: "tick-clock", title: "Clock" },
  mailbox: { element: "tick-mailbox", title: "Mailbox", open: true },
  api: { element: "tick-api", title: "API", open: true },
};

const main = document.getElementById("main");
let shown = { key: null, element: null, token: null };
let withMailbox = false;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function place() {
  // Whatever does not begin with a slash is a place on the page, not a page.
  // In times with an offset a plus is a plus, and no blank.
  const [path, query] = location.hash.startsWith("#/") ? location.hash.slice(2).split("?") : [""];
  const [name, argument = ""] = path.split("/");
  return { name, argument: decode(argument), query: new URLSearchParams(query?.replaceAll("+", "%2B")) };
}

function nowhere() {
  return h(
    "section",
    { class: "card" },
    h("h1", {}, "There is no such page"),
    h(
      "p",
      { class: "hint" },
      "The address may be old, or not whole. ",
      h("a", { href: "#/" }, "Go to your clocks"),
      ".",
    ),
  );
}

function draw() {
  const { name, argument, query } = place();
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : null;
  const token = session()?.token ?? null;
  const needsSignIn = page && !page.open && !token;
  const key = JSON.stringify([needsSignIn, page?.element, argument]);
  if (key === shown.key && token === shown.token && shown.element.queryChanged) {
    shown.element.query = query;
    shown.element.queryChanged();
    return;
  }
  const element = page ? document.createElement(needsSignIn ? "tick-sign-in" : page.element) : nowhere();
  Object.assign(element, { argument, query });
  shown = { key, element, token };
  document.title = `${needsSignIn ? "Sign in" : (page?.title ?? "No such page")} · Tickover`;
  show(main, element);
  drawTop();
}

/** Whoever has no mouse goes on from the new page's beginning, unless the page knows better. */
function moveFocus() {
  if (main.contains(document.activeElement) && document.activeElement !== main) return;
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  if (heading) heading.tabIndex = -1;
  (heading ?? main).focus({ preventScroll: true });
}

function drawTop() {
  const links = [["clocks", "Clocks"], ...(withMailbox ? [["mailbox", "Mailbox"]] : []), ["api", "API"]];
  const here = { "": "clocks", clock: "clocks" }[place().name] ?? place().name;
  const who = session();
  show(
    document.getElementById("top"),
    h("a", { class: "brand", href: "#/" }, h("span", { "aria-hidden": "true" }, "◷ "), "Tickover"),
    h(
      "nav",
      { "aria-label": "Pages" },
      links.map(([name, title]) =>
        h("a", { href: `#/${name}`, "aria-current": name === here ? "page" : undefined }, title),
      ),
    ),
    who && h("span", { class: "who", title: who.email || who.userId }, who.email || who.userId),
    who && h("button", { type: "button", class: "plain", onclick: leave }, "Sign out"),
  );
}

export async function leave(event) {
  event.currentTarget.disabled = true;
  const { error, late } = await signOut();
  if (late) return;
  if (error && !(error instanceof Away || error instanceof Refusal)) throw error;
  const words =
    error instanceof Away
      ? "You are signed out here. The server could not be told, so the token lives on."
      : "You are signed out.";
  const still = session();
  say(still ? `${words} This device stays signed in as ${still.email || still.userId}.` : words);
}

addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const before = shown.element;
  say("");
  draw();
  if (shown.element !== before) moveFocus();
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

onSessionChange((sentence) => {
  // What happens in other tabs need not be news here, and a page that asks for no sign-in goes on.
  const token = session()?.token ?? null;
  if (token === shown.token) return;
  if (PAGES[place().name]?.open) {
    shown.token = token;
    drawTop();
  } else {
    draw();
    moveFocus();
  }
  if (sentence) say(sentence);
});

site().then(({ mailbox }) => {
  withMailbox = mailbox;
  if (mailbox) drawTop();
});
draw();
