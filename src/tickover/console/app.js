// The router: shows the page for the URL fragment and the header with the signed-in user.

import { h, render } from "./lib/dom.js";
import { clocksLink, showFailure } from "./lib/failure.js";
import { logo } from "./lib/icons.js";
import { notify } from "./lib/notification.js";
import { CallError, ServerUnavailable, serverFeatures, signOut } from "./lib/rpc.js";
import { currentSession, onSessionChange } from "./lib/session.js";
import { inspectorButton } from "./pages/request-inspector.js";

// Each page is a custom element, whose module is loaded when it is first shown. In `#/clock/ID?t=TIME`, its property
// `argument` is ID and `query` has the search parameters. If only the query changes, a page with `queryChanged` stays.
// Public pages need no session.
const CLOCKS = { element: "tick-clocks", title: "Clocks", load: () => import("./pages/clocks-page.js") };
const PAGES = {
  "": CLOCKS,
  clocks: CLOCKS,
  clock: { element: "tick-clock", title: "Clock", load: () => import("./pages/clock-page.js") },
  account: { element: "tick-account", title: "Account", load: () => import("./pages/account-page.js") },
  compare: { element: "tick-compare", title: "Compare", load: () => import("./pages/compare-page.js") },
  mailbox: { element: "tick-mailbox", title: "Mailbox", load: () => import("./pages/mailbox-page.js"), isPublic: true },
};
const SIGN_IN = { element: "tick-sign-in", title: "Sign in", load: () => import("./pages/sign-in-page.js") };

const main = document.getElementById("main");
let current = { key: null, element: null, token: null };

const link = (name, title, hidden = false) => h("a", { href: `#/${name}`, hidden }, title);
const links = { clocks: link("clocks", "Clocks"), mailbox: link("mailbox", "Mailbox", true) };
const address = h("span.address");
const avatar = h("span.avatar", { "aria-hidden": "true" });
const account = h("a.account", { href: "#/account" }, address, avatar);
const signOutButton = h("button.quiet.sign-out", { onclick: signOutHere }, "Sign out");
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

/** Show the page of the URL. Return when its module is loaded. */
async function showPage() {
  const { name, argument, query } = parseRoute();
  const token = currentSession()?.token ?? null;
  const requested = Object.hasOwn(PAGES, name) ? PAGES[name] : null;
  const needsSignIn = requested && !requested.isPublic && !token;
  const page = needsSignIn ? SIGN_IN : requested;
  // All pages that need a session have the same sign-in page, so a navigation keeps what the user has typed.
  const key = JSON.stringify([page?.element, !needsSignIn && argument]);
  if (key === current.key && token === current.token && (needsSignIn || current.element.queryChanged)) {
    current.element.query = query;
    current.element.queryChanged?.();
    updateHeader();
    return;
  }
  const element = h(page?.element ?? "div");
  if (!page) showFailure(element, "Page not found. Check the address.", [clocksLink()], "h1");
  Object.assign(element, { argument, query });
  current = { key, element, token };
  document.title = `${page?.title ?? "Page not found"} · Tickover`;
  render(main, element);
  updateHeader();
  try {
    await page?.load();
  } catch {
    const reload = h("button.primary", { onclick: () => location.reload() }, "Reload");
    showFailure(element, "Can't load this page. Is the server running?", [reload], "h1");
  }
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

/** Show the page of the URL. Move the focus to another page than before, unless the user has left it meanwhile. */
async function navigate() {
  const previous = current.element;
  const shown = showPage();
  const { element } = current;
  await shown;
  if (element !== previous && element === current.element) moveFocus();
}

addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return;
  notify("");
  navigate();
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
    navigate();
  }
  if (message) notify(message);
});

serverFeatures().then(({ mailbox }) => {
  links.mailbox.hidden = !mailbox;
});
render(
  document.getElementById("header"),
  h("a.brand", { href: "#/" }, logo(), "Tickover"),
  h("nav", { "aria-label": "Pages" }, Object.values(links), h("a", { href: "docs" }, "API")),
  inspectorButton,
  account,
  signOutButton,
);
showPage();
