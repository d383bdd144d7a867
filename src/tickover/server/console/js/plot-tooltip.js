// The tooltip of the plot: the items of a mark, or the balances at the pointer.

import { balanceAt } from "./clock-model.js";
import { plural, signedAmount } from "./clock-text.js";
import { h, render } from "./dom.js";
import { formatDay, formatMoney, formatTime } from "./format.js";

const MAX_ROWS = 6;

const row = (name, amount) => h("div", {}, h("span", {}, name), h("span", { class: "number" }, amount));

function markContent({ items, first, last }) {
  const rest = items.length - MAX_ROWS;
  const title =
    first === last ? `${formatDay(first)}, ${formatTime(first)} UTC` : `${formatDay(first)} – ${formatDay(last)}`;
  const states = [...new Set(items.map(({ isPosted }) => (isPosted ? "posted" : "scheduled")))].join(" and ");
  return [
    h("strong", {}, title),
    items.length > 0 && h("div", { class: "muted" }, `${plural(items.length, "event")}, ${states}`),
    items.slice(0, MAX_ROWS).map((item) => row(item.name, signedAmount(item))),
    rest > 0 && h("div", { class: "muted" }, `and ${rest} more`),
  ];
}

const balanceContent = (balances, instant, items) => [
  markContent({ items: items.filter(({ at }) => at === instant), first: instant, last: instant }),
  balances.map((balance) =>
    row(`${balance.currency} balance`, formatMoney(balanceAt(balance, instant), balance.currency)),
  ),
];

export class PlotTooltip {
  #shown = "";
  #drawing = null;
  element = h("div", { class: "tooltip", "aria-hidden": "true", hidden: true });

  hide() {
    this.element.hidden = true;
    this.#shown = "";
    this.#drawing?.hover(null);
  }

  /** Show the items or the balances below the pointer. The tooltip is beside the line at their time, and covers nothing. */
  show(drawing, { offsetX, offsetY, instant, items }) {
    const { lanes, plots, box } = drawing;
    const { fontScale, left, right, height } = box;
    const [x, y] = [offsetX / fontScale, offsetY / fontScale];
    const lane = lanes.find(({ top, bottom }) => y >= top && y < bottom);
    const mark = lane?.markAt(x);
    const isInPlot = !lane && plots.length > 0 && y < plots.at(-1).box.bottom && x >= left && x <= right;
    if (!mark && !isInPlot) return this.hide();
    this.#drawing = drawing;
    this.element.hidden = false;
    const key = mark ? `${lane.kind} ${mark.first} ${mark.items.length}` : `${instant}`;
    if (key !== this.#shown) {
      this.#shown = key;
      const balances = plots.map((plot) => plot.balance);
      render(this.element, mark ? markContent(mark) : balanceContent(balances, instant, items));
    }
    const at = mark ? mark.first : instant;
    const lineX = drawing.x(at);
    drawing.hover(at);
    this.element.classList.toggle("before", lineX > (left + right) / 2);
    this.element.style.left = `${lineX * fontScale}px`;
    this.element.style.bottom = `${(height - (mark ? lane.top : y)) * fontScale}px`;
  }
}
