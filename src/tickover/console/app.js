// The router: shows the page for the URL fragment and the header with the signed-in user.

import "./pages/account-page.js";
import "./pages/clock-page.js";
import "./pages/clocks-page.js";
import "./pages/compare-page.js";
import { h, notify, render } from "./lib/dom.js";
import { clocksLink, showFailure } from "./lib/failure.js";
import { logo } from "./lib/icons.js";
import "./pages/mailbox-page.js";
import { CallError, ServerUnavailable, serverFeatures, signOut } from "./lib/rpc.js";
import { currentSession, onSessionChange } from "./lib/session.js";
import { inspectorButton } from "./pages/request-inspector.js";
import "./pages/sign-in-page.js";

// Each page is a custom element. In `#/clock/ID?t=TIME`, its property `argument` is ID and `query` has the search
// parameters. If only the query changes, a page with `queryChanged` stays. Public pages need no session.
const PAGES = {
  "": { element: "tick-clocks", title: "Clocks" },
  clocks: { element: "tick-clocks", title: "Clocks" },
  clock: { element: "tick-clock", title: "Clock" },
  account: { element: "tick-account", title: "Account" },
  compare: { element: "tick-compare", title: "Compare" },
  mailbox: { element: "tick-mailbox", title: "Mailbox", isPublic: true },
};

const main = document.getElementById("main");
let current = { key: null, element: null, token: null };

const link = (name, title, hidden = false) => h("a", { href: `#/${name}`, hidden }, title);
const links = { clocks: link("clocks", "Clocks"), mailbox: link("mailbox", "Mailbox", true) };
const address = h("span", { class: "address" });
const avatar = h("span", { class: "avatar", "aria-hidden": "true" });
const account = h("a", { class: "account", href: "#/account" }, address, avatar);
const signOutButton = h("button", { class: "quiet sign-out", onclick: signOutHere }, "Sign out");
let endingToken = null;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parse the URL fragment. A fragment without a leading slash is an anchor, not a page. */
function parseRoute() {
  const [path, query] = location.hash.startsWith("#/") ? location.hash.slice(2).split("?") : [""];
  const [name, argument = ""] = path.split("/");
  // A timestamp with an offset contains a plus, which URLSearchParams would read as a space.
  return { name, argument: decode(argument), query: new URLSearchParams(query?.replaceAll("+", "%2B")) };
}

function notFoundPage() {
  const page = h("div");
  showFailure(page, "Page not found. Check the address.", [clocksLink()], "h1");
  return page;
}

function showPage() {
  const { name, argument, query } = parseRoute();
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : null;
  const token = currentSession()?.token ?? null;
  const needsSignIn = page && !page.isPublic && !token;
  // All pages that need a session have the same sign-in page, so a navigation keeps what the user has typed.
  const key = JSON.stringify(needsSignIn ? [] : [page?.element, argument]);
  if (key === current.key && token === current.token && (needsSignIn || current.element.queryChanged)) {
    current.element.query = query;
    current.element.queryChanged?.();
    updateHeader();
    return;
  }
  const element = page ? document.createElement(needsSignIn ? "tick-sign-in" : page.element) : notFoundPage();
  Object.assign(element, { argument, query });
  current = { key, element, token };
  document.title = `${needsSignIn ? "Sign in" : (page?.title ?? "Page not found")} · Tickover`;
  render(main, element);
  updateHeader();
}

/** Move the focus to the heading of the new page, unless the page has set it. */
function moveFocus() {
  if (main.contains(document.activeElement) && document.activeElement !== main) return;
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  if (heading) heading.tabIndex = -1;
  (heading ?? main).focus({ preventScroll: true });
}

/** Update the header in place. New elements would lose the focus, and a click between its press and its release. */
function updateHeader() {
  const { name: route } = parseRoute();
  const session = currentSession();
  const currentLink = { "": "clocks", clock: "clocks", compare: "clocks" }[route] ?? route;
  for (const [name, element] of Object.entries({ ...links, account })) {
    if (name === currentLink && (session || PAGES[name].isPublic)) element.setAttribute("aria-current", "page");
    else element.removeAttribute("aria-current");
  }
  address.textContent = session ? session.email || session.userId : "";
  avatar.textContent = address.textContent.slice(0, 2).toUpperCase();
  account.title = `Account of ${address.textContent}`;
  account.hidden = signOutButton.hidden = !session;
  signOutButton.disabled = session?.token === endingToken;
}

async function signOutHere() {
  endingToken = currentSession()?.token;
  updateHeader();
  const { error, superseded } = await signOut();
  if (superseded) return;
  if (error && !(error instanceof CallError)) throw error;
  notify(
    error instanceof ServerUnavailable
      ? "You are signed out here. Can't reach the server, so your token was not revoked."
      : "You are signed out.",
  );
}

addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const previous = current.element;
  notify("");
  showPage();
  if (current.element !== previous) moveFocus();
});

document.querySelector(".skip-link").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

onSessionChange((message) => {
  const token = currentSession()?.token ?? null;
  if (token === current.token) return;
  if (PAGES[parseRoute().name]?.isPublic) {
    current.token = token;
    updateHeader();
  } else {
    showPage();
    moveFocus();
  }
  if (message) notify(message);
});

serverFeatures().then(({ mailbox }) => {
  links.mailbox.hidden = !mailbox;
});
render(
  document.getElementById("header"),
  h("a", { class: "brand", href: "#/" }, logo(), "Tickover"),
  h("nav", { "aria-label": "Pages" }, Object.values(links), h("a", { href: "docs" }, "API")),
  inspectorButton,
  account,
  signOutButton,
);
showPage();
