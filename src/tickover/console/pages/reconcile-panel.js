// Compares the books of an app with a clock: a file that is dropped on the page or chosen, and a table of what differs.

import { DIFFERENCES, listDifferences, readBooks } from "../clock/books.js";
import { plural } from "../clock/clock-text.js";
import { errorDetails } from "../clock/create-clock.js";
import { card } from "../lib/card.js";
import { h, render } from "../lib/dom.js";
import { chooseFile, onFileDrop } from "../lib/files.js";
import { field, select } from "../lib/form-fields.js";
import { formatDay, formatInstant, formatMoney } from "../lib/format.js";
import { iconButton } from "../lib/icons.js";
import { notify } from "../lib/notification.js";
import { call } from "../lib/rpc.js";
import { tableHead } from "../lib/table.js";

const TOLERANCES = [
  ["0", "Same day"],
  ["1", "1 day"],
  ["3", "3 days"],
  ["7", "7 days"],
];
const MAX_ROWS = 100;

export class ReconcilePanel {
  #hooks;
  #books = null;
  #scope = null;
  #tolerance = field("", "Tolerance", select(TOLERANCES, { onchange: () => this.#compare() }));
  #title = h("span");
  #body = h("div", { role: "status" });
  #choices = h("div.row.filters");
  #closeButton = iconButton("close", "Close", { onclick: () => this.#close() });
  element = card({ title: this.#title, aside: [this.#choices, this.#closeButton], hidden: true }, this.#body);

  /** `hooks` has `model()`, `onRanges(ranges)` of what differs, and `onShow(instant)`. Files can be dropped on `page`. */
  constructor(page, hooks) {
    this.#hooks = hooks;
    onFileDrop(page, (file) => this.#open(file));
  }

  async choose() {
    this.#open(await chooseFile(".csv,text/csv"));
  }

  async #open(file) {
    try {
      this.#books = readBooks(await file.text());
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return notify(`“${file.name}”: ${error.message}`, { error: true });
    }
    const { accounts, currencies } = this.#hooks.model();
    const scopes = [
      ...accounts.map(({ key, name }) => [`account:${key}`, name]),
      ...currencies.map((currency) => [
        `currency:${currency}`,
        accounts.length ? `${currency} in all accounts` : currency,
      ]),
    ];
    this.#scope = select(scopes, { onchange: () => this.#compare() });
    this.#title.textContent = `Books in “${file.name}”`;
    const scope = scopes.length > 1 && field("", accounts.length ? "Account" : "Currency", this.#scope);
    render(this.#choices, scope, this.#tolerance);
    this.element.hidden = false;
    await this.#compare();
    this.#closeButton.focus();
  }

  #close() {
    this.element.hidden = true;
    this.#books = null;
    this.#hooks.onRanges([]);
  }

  /** Compare again, for example after an advance. */
  update() {
    if (this.#books) this.#compare();
  }

  async #compare() {
    const { id, now } = this.#hooks.model();
    const [member, name] = this.#scope.value.split(":");
    const observed = { transactions: this.#books };
    const params = { id, observed, toleranceDays: Number(this.#tolerance.read()), ...(name && { [member]: name }) };
    try {
      const result = await call("reconcileTestClock", params);
      const differences = listDifferences(result);
      this.#hooks.onRanges(
        differences.map(({ kind, at, name }) => ({
          from: at,
          to: at,
          title: `${DIFFERENCES[kind]}: ${name}, ${formatDay(at)}`,
        })),
      );
      this.#draw(differences, now);
    } catch (error) {
      this.#hooks.onRanges([]);
      render(this.#body, h("p.error", errorDetails(error)));
    }
  }

  #draw(differences, now) {
    const rows = plural(this.#books.length, "row");
    if (!differences.length)
      return render(this.#body, h("p", `The books are complete on ${formatDay(now)}. ${rows} compared.`));
    const rest = differences.length - MAX_ROWS;
    return render(
      this.#body,
      h("p.error", `${plural(differences.length, "difference")} on ${formatDay(now)}. ${rows} compared.`),
      h(
        "table.data",
        tableHead(["Difference", "In the clock", "In the books"], 1),
        h(
          "tbody",
          differences.slice(0, MAX_ROWS).map((entry) => this.#row(entry)),
        ),
      ),
      rest > 0 && h("p.muted", `and ${rest} more`),
    );
  }

  #row({ kind, at, name, bank, app, fields = [] }) {
    const [member, scope] = this.#scope.value.split(":");
    const { accounts } = this.#hooks.model();
    const currency = member === "account" ? accounts.find(({ key }) => key === scope).currency : scope;
    const cell = (entry) =>
      h(
        "td.number",
        entry ? formatMoney(entry.amount, currency, { sign: "always" }) : "–",
        fields.includes("at") && h("small.muted", formatInstant(Date.parse(entry.at))),
        fields.includes("name") && h("small.muted", entry.name),
      );
    const show = () => this.#hooks.onShow(at);
    return h(
      "tr",
      h(
        "th",
        { scope: "row" },
        h("strong.error", DIFFERENCES[kind]),
        ` ${name}`,
        h("small", h("button.link", { onclick: show }, formatInstant(at))),
      ),
      cell(bank),
      cell(app),
    );
  }
}
