/*
 * The page that Link shows in a frame. The fragment of its URL has the link token and the origin of the app's page,
 * which is the only one that gets messages.
 */

const given = new URLSearchParams(location.hash.slice(1));
const token = given.get("token");
const origin = given.get("origin");
const [title, text, list, buttons] = ["title", "text", "list", "buttons"].map((id) => document.getElementById(id));

if (parent !== window && token && origin) {
  addEventListener("message", ({ source, origin: sender, data }) => {
    if (source === parent && sender === origin && data?.type === "open") guard(open);
  });
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") tell({ type: "exit", error: null });
  });
  text.textContent = "Loading…";
  tell({ type: "loaded" });
}

function tell(message) {
  parent.postMessage(message, origin);
}

/** Run a step. If it fails, show why. */
async function guard(step) {
  for (const button of document.querySelectorAll(".choice, .primary")) button.disabled = true;
  try {
    await step();
  } catch (failure) {
    showError(failure.plaid ?? noResponse(failure));
  }
}

async function open() {
  show("Connect your accounts", "Loading…", [], [cancelButton()]);
  const session = await call("get");
  if (session.item) chooseAccounts(session.item, `Sign in to ${session.item.institution.name} again`);
  else chooseInstitution(session);
}

function chooseInstitution(session) {
  const app = session.client_name.length > 30 ? "This application" : session.client_name;
  if (!session.institutions.length) {
    const message = "There is no clock. Create one in Tickover, and try again.";
    show("Choose your bank", message, [], [cancelButton()]);
    return;
  }
  const choices = institutionChoices(session);
  show("Choose your bank", `${app} will see its accounts and transactions.`, choices, [cancelButton()]);
}

function institutionChoices(session, offset = 0) {
  const choices = session.institutions.map((institution, index) => {
    const id = `time-${offset + index}`;
    const { name, time } = institution;
    const choose = element("button", { type: "button", className: "choice name", textContent: name });
    choose.ariaLabel = `Choose ${name}`;
    choose.setAttribute("aria-describedby", id);
    choose.addEventListener("click", () => guard(() => chooseAccountsOf(institution)));
    return [choose, element("span", { className: "detail", id, textContent: `at ${formatDate(time)}` })];
  });
  if (session.has_more) {
    const more = element("button", { type: "button", className: "secondary", textContent: "Show more" });
    more.addEventListener("click", () => guard(() => showMore(more, offset + session.institutions.length)));
    choices.push([more]);
  }
  return choices;
}

async function showMore(more, offset) {
  const choices = institutionChoices(await call("get", { offset }), offset);
  const items = choices.map(listItem);
  more.parentElement.replaceWith(...items);
  for (const button of list.querySelectorAll("button")) button.disabled = false;
  items[0]?.firstChild.focus();
}

async function chooseAccountsOf({ institution_id }) {
  const chosen = await call("accounts", { institution_id });
  tell({ type: "select", institution: chosen.institution, request_id: chosen.request_id });
  chooseAccounts(chosen, chosen.institution.name);
}

function chooseAccounts({ institution, accounts }, heading) {
  const rows = accounts.map(({ name, subtype, mask }) => {
    const row = element("div", { className: "account" });
    row.append(
      element("span", { className: "name", textContent: name }),
      element("span", { className: "detail", textContent: `${subtype} ••${mask}` }),
    );
    return [row];
  });
  const next = element("button", { type: "button", className: "primary", textContent: "Continue" });
  next.addEventListener("click", () => guard(() => connect(institution)));
  show(heading, "These accounts will be connected:", rows, [next, cancelButton()]);
}

async function connect({ institution_id }) {
  const { public_token, institution, accounts, request_id } = await call("connect", { institution_id });
  tell({ type: "success", public_token, institution, accounts, request_id });
}

function showError(error) {
  const { request_id, ...plaid } = error;
  show("Something went wrong", error.display_message ?? error.error_message, [], [cancelButton(plaid, request_id)]);
  text.role = "alert";
}

function cancelButton(error = null, request_id = undefined) {
  const cancel = element("button", { type: "button", className: "secondary", textContent: "Cancel" });
  cancel.addEventListener("click", () => tell({ type: "exit", error, request_id }));
  return cancel;
}

/** Replace the page. The focus goes to its heading, so that screen readers begin there. */
function show(heading, message, rows, actions) {
  title.textContent = heading;
  text.role = "status";
  text.textContent = message;
  list.replaceChildren(...rows.map(listItem));
  list.hidden = !rows.length;
  buttons.replaceChildren(...actions);
  title.focus();
}

/** Call the server. Throw its error object as `plaid` if it rejects the call. */
async function call(name, params = {}) {
  const response = await fetch(new URL(`../../session/${name}`, location.href), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link_token: token, ...params }),
    credentials: "omit",
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error_message), { plaid: answer });
  return answer;
}

function noResponse(failure) {
  return {
    error_type: "API_ERROR",
    error_code: "INTERNAL_SERVER_ERROR",
    error_message: failure.message,
    display_message: "The server doesn't respond. Try again later.",
  };
}

function formatDate(time) {
  return new Date(time).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
}

function listItem(children) {
  const item = element("li");
  item.append(...children);
  return item;
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
