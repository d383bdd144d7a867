// A list of calls with their time, duration and outcome, without the codes, tokens and login links in them.

import { h } from "../lib/dom.js";
import { formatInstant } from "../lib/format.js";

const outcome = ({ response }) =>
  response ? (response.error?.data?.reason ?? (response.error ? "error" : "ok")) : "no response";

const duration = ({ milliseconds }) => `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;

/** Create the time of day at which a call was sent: `09:30:07Z`. */
function sentAt({ at }) {
  const datetime = new Date(at).toISOString();
  return h("time.muted", { datetime, title: formatInstant(at) }, `${datetime.slice(11, 19)}Z`);
}

/** Create a list of buttons. `onSelect(call)` is called when one is pressed. */
export const callList = (calls, { selected, onSelect }) =>
  h(
    "ol.calls",
    { "aria-label": "Latest requests" },
    calls.map((call) =>
      h(
        "li",
        h(
          "button",
          { "aria-current": call === selected ? "true" : undefined, onclick: () => onSelect(call) },
          sentAt(call),
          h("span.method", call.method),
          h("span.muted", duration(call)),
          h("span", { class: call.response && !call.response.error ? "muted" : "error" }, outcome(call)),
        ),
      ),
    ),
  );

const MASK = "••••••";

// Parameters that sign a user in.
const SECRETS = { loginByEmailVerification: "code", loginByEmailLink: "token" };

export function maskRequest({ request }) {
  const name = SECRETS[request.method];
  return name && request.params?.[name] ? { ...request, params: { ...request.params, [name]: MASK } } : request;
}

/** Hide the tokens and the login link in a result. Return the same object if it has none. */
export function maskResult(result) {
  const tokens = ["token", "publicToken", "setupToken"].filter((name) => typeof result?.[name] === "string");
  const masked = {
    ...Object.fromEntries(tokens.map((name) => [name, MASK])),
    ...(typeof result?.loginUrl === "string" && { loginUrl: result.loginUrl.replace(/#.*/s, `#token=${MASK}`) }),
  };
  return Object.keys(masked).length ? { ...result, ...masked } : result;
}

export const maskResponse = ({ response }) =>
  response.error ? response : { ...response, result: maskResult(response.result) };
