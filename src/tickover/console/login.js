// The page that a login link opens. Only its button redeems the link, so mail scanners that open links do no harm.
// The link's token is in the URL fragment, which browsers send to no server.

import { logo } from "./lib/icons.js";
import { call, RpcError } from "./lib/rpc.js";
import { startSession } from "./lib/session.js";
import { removeStored, writeStored } from "./lib/storage.js";

const byId = (id) => document.getElementById(id);
const status = byId("status");
const signInButton = byId("sign-in");
const newLink = byId("new-link");
const linkToken = takeLinkToken();

/** Remove the token from the address bar. The history entry keeps it, so a reload works. */
function takeLinkToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") || history.state?.linkToken;
  history.replaceState(token ? { linkToken: token } : null, "", location.pathname);
  return token;
}

function showStatus(message) {
  status.textContent = message;
}

/** Offer a new link instead of the button. */
function rejectLink(message) {
  history.replaceState(null, "", location.pathname);
  signInButton.hidden = true;
  newLink.hidden = false;
  newLink.focus();
  document.querySelector("h1").textContent = "This link doesn't work";
  showStatus(message);
}

function showError(error) {
  if (!(error instanceof RpcError)) showStatus("Can't reach the server. Try again.");
  else if (!["LOGIN_REFUSED", "INVALID_PARAMS"].includes(error.reason)) showStatus(error.message);
  else rejectLink("It is invalid, expired or already used.");
}

/** Return whether the browser can store a session. Without storage, redeeming the link would waste it. */
function canStoreSession() {
  const isStored = writeStored("try", "");
  removeStored("try");
  return isStored;
}

/** Store the session and open the console, which replaces this page in the history. */
function openConsole({ token, userId }) {
  startSession({ token, email: "", userId });
  showStatus("You are signed in.");
  location.replace("./");
}

signInButton.addEventListener("click", async () => {
  if (!canStoreSession()) {
    showStatus("Your browser doesn't allow this page to store data. Allow it, then press the button again.");
    return;
  }
  signInButton.disabled = true;
  showStatus("Signing in…");
  try {
    openConsole(await call("loginByEmailLink", { token: linkToken }));
  } catch (error) {
    showError(error);
    signInButton.disabled = false;
    // A disabled button loses the focus.
    if (!signInButton.hidden) signInButton.focus();
  }
});

// Another link opened in this tab changes only the fragment, which doesn't reload the page.
addEventListener("hashchange", () => location.reload());

document.querySelector(".brand").prepend(logo());
if (linkToken) {
  showStatus("Press the button to sign in. The link works once.");
  signInButton.hidden = false;
  signInButton.focus();
} else {
  showStatus("This page needs a complete login link. Open the link in your email.");
  newLink.hidden = false;
}
