// The panel of connections: programs that read the clock as a bank, what the bank answers, and a form to connect one.

import {
  describeFault,
  FAULT_KINDS,
  faultAt,
  faultRanges,
  PROTOCOLS,
  QUIRKS,
  syncBetween,
} from "../clock/bank-view.js";
import { curvesOf } from "../clock/clock-model.js";
import { curveName, plural } from "../clock/clock-text.js";
import { showErrors } from "../clock/create-clock.js";
import { busyButton } from "../lib/busy-button.js";
import { card, disclosure, listEntry } from "../lib/card.js";
import { secretBox } from "../lib/code-block.js";
import { confirmAction } from "../lib/dialog.js";
import { h, render } from "../lib/dom.js";
import { field, markInvalidTime, readTime, select, textInput, timeInput } from "../lib/form-fields.js";
import { formatDay, formatInstant, formatMoney } from "../lib/format.js";
import { toTimestamp } from "../lib/instants.js";
import { notify } from "../lib/notification.js";
import { call } from "../lib/rpc.js";

const NONE = ["", "None"];

export class BankPanel {
  #id;
  #onRanges;
  #connections = [];
  #model = null;
  #now = 0; // the time of the clock
  #answered = ""; // the instants of the answer that is shown
  #list = h("div.token-list");
  #answer = h("div.bank-answer");
  #created = h("div", { "aria-live": "polite" });
  #error = h("p.error", { role: "alert" });
  #form = disclosure("Connect", (close) => this.#connectForm(close));
  element = card(
    { title: "Bank", aside: this.#form.button },
    this.#list,
    this.#created,
    this.#form.box,
    this.#error,
    this.#answer,
  );

  /** `id` is that of the clock. Call `onRanges(ranges)` with the faults of all connections. */
  constructor(id, { onRanges }) {
    this.#id = id;
    this.#onRanges = onRanges;
    this.#load();
  }

  #load() {
    return showErrors(this.#error, async () => {
      const { connections } = await call("listTestClockConnections", { id: this.#id }, { quiet: true });
      this.#connections = connections;
      this.#answered = "";
      const rows = connections.map((connection) => this.#row(connection));
      const hint = "Your app can read this clock as if it were a bank, with Plaid or SimpleFIN.";
      render(this.#list, rows.length ? h("ul", rows) : h("p.muted", hint));
      this.#onRanges(connections.flatMap(faultRanges));
    });
  }

  #row({ id, protocol, institution, createdAt, claimed, faults = [], quirks = [] }) {
    const disconnect = async () => {
      const consequence = "The app can't read the clock any more.";
      if (!(await confirmAction(`Disconnect “${institution}”?`, consequence, "Disconnect"))) return;
      await showErrors(this.#error, async () => {
        await call("disconnectTestClock", { id: this.#id, connectionId: id });
        render(this.#created);
        notify(`Disconnected “${institution}”.`);
      });
      await this.#load();
      this.#form.button.focus();
    };
    const use = claimed ? "used by an app" : "no app has used it yet";
    const details = [
      h("p.hint.muted", `${PROTOCOLS[protocol]} · ${formatDay(Date.parse(createdAt))} · ${use}`),
      quirks.map((quirk) => h("p.hint.muted", QUIRKS[quirk] ?? quirk)),
      faults.map((fault) => h("p.hint.error", describeFault(fault))),
    ];
    const button = h("button", { "aria-label": `Disconnect “${institution}”`, onclick: disconnect }, "Disconnect");
    return listEntry(h("strong", institution), details, button);
  }

  #connectForm(close) {
    const protocol = select(Object.entries(PROTOCOLS));
    const institution = textInput("Tickover Bank");
    const kind = select([NONE, ...Object.entries(FAULT_KINDS)]);
    const quirk = select([NONE, ...Object.entries(QUIRKS)]);
    const time = (label, value) => field("", label, timeInput(value), readTime);
    const [from, until] = [time("From (UTC)", toTimestamp(this.#now)), time("Until (UTC)")];
    const times = h("div.fields", { hidden: true }, from, until);
    kind.addEventListener("change", () => (times.hidden = !kind.value));
    const connect = async () => {
      if (kind.value && markInvalidTime(from, until)) return;
      await this.#connect(close, {
        protocol: protocol.value,
        institution: institution.value,
        ...(quirk.value && { quirks: [quirk.value] }),
        ...(kind.value && { faults: [{ kind: kind.value, from: from.read(), until: until.read() }] }),
      });
    };
    return h(
      "div.expectation-form",
      field("", "Protocol", protocol),
      field("", "Bank", institution),
      field("", "Habit", quirk),
      field("", "Failure", kind),
      times,
      h("div.row", busyButton("button.soft", "Connect app", connect), h("button.plain", { onclick: close }, "Cancel")),
    );
  }

  #connect(close, params) {
    return showErrors(this.#error, async () => {
      const { publicToken, setupToken } = await call("connectTestClock", { id: this.#id, ...params });
      close();
      const host = new URL("plaid", document.baseURI).href;
      const hint = publicToken
        ? `Give this public token to your app instead of one from Plaid Link. The host of its Plaid client is ${host}.`
        : "Paste this setup token into your app.";
      render(this.#created, secretBox(`${hint} It isn't shown again.`, publicToken ?? setupToken));
      await this.#load();
    });
  }

  /** Show what the bank answers at the time of the clock, and what a sync at the preview adds. */
  draw(model, currentView, view) {
    this.#now = model.now;
    const instants = `${model.scheduleKey.length} ${currentView.instant} ${view.instant}`;
    if (!this.#connections.length || (this.#model === model && this.#answered === instants)) {
      this.#answer.hidden = !this.#connections.length;
      return;
    }
    [this.#model, this.#answered] = [model, instants];
    this.#answer.hidden = false;
    const failing = this.#connections.filter((connection) => faultAt(connection, view.instant));
    const balances = curvesOf(model).map((curve) => {
      const amount = curve.account ? view.accounts.get(curve.account) : view.balances.get(curve.currency);
      return h("tr", h("th", { scope: "row" }, curveName(curve)), h("td.number", formatMoney(amount, curve.currency)));
    });
    const isAhead = view.instant > currentView.instant;
    const { added, pending, removed } = syncBetween(model, isAhead ? currentView.instant : -Infinity, view.instant);
    const counts = [
      `adds ${plural(added, "transaction")}`,
      pending > 0 && `, ${pending} of them pending`,
      removed > 0 && `, and removes ${plural(removed, "pending one")}`,
    ];
    render(
      this.#answer,
      h("h3", `At ${formatInstant(view.instant)}`),
      failing.map((connection) =>
        h(
          "p.error",
          `${connection.institution} fails: ${FAULT_KINDS[faultAt(connection, view.instant).kind].toLowerCase()}.`,
        ),
      ),
      h("p", isAhead ? "If your app syncs now, its next sync at this time " : "A first sync ", counts, "."),
      h("table.data", h("tbody", balances)),
    );
  }
}
