// The tooltip of the plot: the items of a mark, or the balances at the pointer.

import { balanceAt } from "./clock-model.js";
import { plural, signedAmount } from "./clock-text.js";
import { h, render } from "./dom.js";
import { formatDay, formatInstant, formatMoney } from "./format.js";

const MAX_ROWS = 6;
const HALF_WIDTH = 120;
const GAP = 8;

const row = (name, amount) => h("div", {}, h("span", {}, name), h("span", { class: "number" }, amount));

function markContent({ items, first, last }) {
  const rest = items.length - MAX_ROWS;
  const title = first === last ? formatInstant(first) : `${formatDay(first)} – ${formatDay(last)}`;
  return [
    h("strong", {}, items.length > 1 ? `${title} · ${plural(items.length, "event")}` : title),
    items.slice(0, MAX_ROWS).map((item) => row(item.name, signedAmount(item))),
    rest > 0 && h("div", { class: "muted" }, `and ${rest} more`),
  ];
}

function balanceContent(balances, instant) {
  return [
    h("strong", {}, formatInstant(instant)),
    balances.map((balance) => row(balance.currency, formatMoney(balanceAt(balance, instant), balance.currency))),
  ];
}

export class PlotTooltip {
  #shown = "";
  element = h("div", { class: "tooltip", "aria-hidden": "true", hidden: true });

  hide() {
    this.element.hidden = true;
  }

  /** Show the items or the balances below the pointer. The tooltip opens upwards, so it covers no lane below. */
  show({ lanes, plots, box }, { offsetX, offsetY, instant }) {
    const { fontScale, left, right, height } = box;
    const [x, y] = [offsetX / fontScale, offsetY / fontScale];
    const lane = lanes.find(({ top, bottom }) => y >= top && y < bottom);
    const mark = lane?.markAt(x);
    const isInPlot = !lane && plots.length > 0 && y < plots.at(-1).box.bottom && x >= left && x <= right;
    this.element.hidden = !mark && !isInPlot;
    if (this.element.hidden) return;
    const key = mark ? `${lane.kind} ${mark.first} ${mark.items.length}` : `${instant}`;
    if (key !== this.#shown) {
      this.#shown = key;
      const balances = plots.map((plot) => plot.balance);
      render(this.element, mark ? markContent(mark) : balanceContent(balances, instant));
    }
    const anchor = mark ? lane.top : y - GAP;
    const middle = (mark ? mark.x : x) * fontScale;
    const width = (right + GAP) * fontScale;
    this.element.style.left = `${Math.min(Math.max(middle, HALF_WIDTH), Math.max(HALF_WIDTH, width - HALF_WIDTH))}px`;
    this.element.style.bottom = `${(height - anchor + GAP) * fontScale}px`;
  }
}
