// The page: signs the user in with a code from an email, and checks their account. It runs in the browser.
import { Rejection, Tickover } from "tickover";
import { overdraftWarning } from "./budget.js";

const { tickoverUrl } = await (await fetch("/config.json")).json();
const tickover = new Tickover({ url: tickoverUrl });
const [requestCode, signIn, check, message] = ["request-code", "sign-in", "check", "message"].map((id) =>
  document.getElementById(id),
);
let email = "";

/** Runs `work` and shows the text that it returns, or why the server rejected a call. */
function show(work) {
  return async (event) => {
    event.preventDefault();
    try {
      message.textContent = await work(event.target);
    } catch (error) {
      message.textContent = error instanceof Rejection ? error.message : "Something went wrong. Try again.";
    }
  };
}

requestCode.addEventListener(
  "submit",
  show(async (form) => {
    email = form.elements.email.value;
    await tickover.sendCode(email);
    signIn.hidden = false;
    return "We sent you a code.";
  }),
);

signIn.addEventListener(
  "submit",
  show(async (form) => {
    await tickover.logIn(email, form.elements.code.value);
    requestCode.hidden = signIn.hidden = true;
    check.hidden = false;
    return `You are signed in as ${email}.`;
  }),
);

check.addEventListener(
  "click",
  show(async () => {
    const [clock] = (await tickover.listTestClocks({ limit: 1 })).clocks;
    if (!clock) return "You have no account yet.";
    return (await overdraftWarning(tickover, clock.id, clock.maxTime)) || "Your money lasts.";
  }),
);
