// The page that a login link opens. Opening it changes nothing: only the button redeems the link, so that mail scanners
// that follow links do no harm. The secret is in the fragment, which no server and no Referer ever sees.

import { call, Refusal } from "./rpc.js";
import { begin } from "./session.js";

const byId = (id) => document.getElementById(id);
const status = byId("status");
const signIn = byId("sign-in");
const wayOn = byId("way-on");
const secret = takeSecret();

/** The secret leaves the address bar at once, but stays with this entry of the tab's history, so that to reload is safe. */
function takeSecret() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token") || history.state?.secret;
  history.replaceState(found ? { secret: found } : null, "", location.pathname);
  return found;
}

function say(sentence) {
  status.textContent = sentence;
}

/** There is nothing to press any more. */
function end(sentence) {
  history.replaceState(null, "", location.pathname);
  signIn.hidden = true;
  byId("staying").hidden = true;
  wayOn.hidden = false;
  wayOn.focus();
  say(sentence);
}

function refused(error) {
  if (!(error instanceof Refusal)) say("The server cannot be reached. Try again.");
  else if (!["LOGIN_REFUSED", "INVALID_PARAMS"].includes(error.reason)) say(error.message);
  else end("This link was used already, is too old, or was not opened whole. Ask for a new one.");
}

/** Whether the browser lets this page keep a session: without one, to redeem the link would only spend it. */
function canKeep() {
  try {
    sessionStorage.setItem("try", "");
    sessionStorage.removeItem("try");
    return true;
  } catch {
    return false;
  }
}

/** Keep the session, and go to the console, which takes the place of this page in the history. */
function signedIn({ token, userId }) {
  begin({ token, email: "", userId }, { stay: byId("stay").checked });
  say("You are signed in.");
  location.replace("./");
}

signIn.addEventListener("click", async () => {
  if (!canKeep()) {
    say("Your browser does not let this page keep you signed in. Allow it to store data, then press again.");
    return;
  }
  signIn.disabled = true;
  say("Signing in …");
  try {
    signedIn(await call("loginByEmailLink", { token: secret }));
  } catch (error) {
    refused(error);
    signIn.disabled = false;
    // While it was disabled it lost the focus, and with it whoever has no mouse.
    if (!signIn.hidden) signIn.focus();
  }
});

// A new link opened in this tab changes only the fragment, which by itself loads nothing.
addEventListener("hashchange", () => location.reload());

if (secret) {
  say("Press the button. The link works once.");
  signIn.hidden = false;
  byId("staying").hidden = false;
  signIn.focus();
} else {
  say("This page needs a login link. Open the one in your letter, whole.");
  wayOn.hidden = false;
}
