// The page that a login link opens. Opening it changes nothing: only the button redeems the link, so that mail scanners
// that follow links do no harm. The secret is in the fragment, which no server and no Referer ever sees.

const byId = (id) => document.getElementById(id);
const status = byId("status");
const signIn = byId("sign-in");
const secret = new URLSearchParams(location.hash.slice(1)).get("token");

function say(sentence) {
  status.textContent = sentence;
}

async function redeem() {
  const call = { jsonrpc: "2.0", id: 1, method: "loginByEmailLink", params: { token: secret } };
  const answer = await fetch("/rpc", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(call),
    referrerPolicy: "no-referrer",
  });
  return answer.json();
}

function refused(error) {
  if (["LOGIN_REFUSED", "INVALID_PARAMS"].includes(error.data.reason)) {
    signIn.hidden = true;
    say("This link was used already, is too old, or was not opened whole. Ask for a new one.");
  } else {
    say(error.message);
  }
}

function signedIn({ token, userId }) {
  // The link is spent; nothing of it stays in the address bar or the history.
  history.replaceState(null, "", location.pathname);
  signIn.hidden = true;
  byId("token").value = token;
  byId("signed-in").hidden = false;
  say(`You are signed in as ${userId}.`);
  byId("copy").focus();
}

signIn.addEventListener("click", async () => {
  signIn.disabled = true;
  say("Signing in …");
  try {
    const { result, error } = await redeem();
    if (error) refused(error);
    else signedIn(result);
  } catch {
    say("The server cannot be reached. Try again.");
  } finally {
    signIn.disabled = false;
    // While it was disabled it lost the focus, and with it whoever has no mouse.
    if (!signIn.hidden) signIn.focus();
  }
});

byId("copy").addEventListener("click", async () => {
  const field = byId("token");
  try {
    await navigator.clipboard.writeText(field.value);
    byId("copy").textContent = "Copied";
  } catch {
    field.select();
    say("Your browser does not let this page copy; the token is selected, copy it yourself.");
  }
});

// A new link opened in this tab changes only the fragment, which by itself loads nothing.
addEventListener("hashchange", () => location.reload());

if (secret) {
  say("Press the button. The link works once.");
  signIn.hidden = false;
  signIn.focus();
} else {
  say("This page needs a login link. Open the one in your letter, whole.");
}
