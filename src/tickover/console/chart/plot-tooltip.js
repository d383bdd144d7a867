// The tooltip of the plot: the items of a mark, or the balances at the pointer.

import { balanceAt, countUntil } from "../clock/clock-model.js";
import { curveName, plural, signedAmount } from "../clock/clock-text.js";
import { h, render } from "../lib/dom.js";
import { formatDay, formatMoney, formatShortDay, formatTime } from "../lib/format.js";
import { NARROW, TOP } from "./timeline-layout.js";

const MAX_ROWS = 6;

const row = (name, amount) => h("div", h("span", name), h("span.number", amount));

/** Return the state at an instant. A preview is later than now, or the same. */
const stateAt = (at, { now, preview }) => (at <= now ? "posted" : at <= preview ? "would post" : "scheduled");

function markContent({ items, first, last }, times) {
  const rest = items.length - MAX_ROWS;
  const title =
    first === last ? `${formatDay(first)}, ${formatTime(first)} UTC` : `${formatDay(first)} – ${formatDay(last)}`;
  const states = [...new Set(items.map(({ at }) => stateAt(at, times)))].join(" and ") || stateAt(first, times);
  return [
    h("strong", title),
    h("div.muted", items.length ? `${plural(items.length, "event")}, ${states}` : states),
    items.slice(0, MAX_ROWS).map((item) => row(item.name, signedAmount(item))),
    rest > 0 && h("div.muted", `and ${rest} more`),
  ];
}

/** Return the items at an instant, or the last one before it with its date, and the balances. */
function balanceContent(balances, instant, { items, times, ...rest }) {
  const latest = items[countUntil(times, instant) - 1];
  const isNow = latest?.at === instant;
  const some = isNow ? items.slice(countUntil(times, instant - 0.001), countUntil(times, instant)) : [];
  return [
    markContent({ items: some, first: instant, last: instant }, rest),
    balances.map((balance) =>
      row(`${curveName(balance)} balance`, formatMoney(balanceAt(balance, instant), balance.currency)),
    ),
    latest && !isNow && row(`${formatShortDay(latest.at)}: ${latest.name}`, signedAmount(latest)),
  ];
}

export class PlotTooltip {
  #shown = "";
  #drawing = null;
  element = h("div.tooltip", { "aria-hidden": "true", hidden: true });

  hide() {
    this.element.hidden = true;
    this.#shown = "";
    this.#drawing?.hover(null);
  }

  /**
   * Show the items or the balances below the pointer. The tooltip is beside the line at their time, and below the labels
   * of now and of the preview. A narrow plot has no room, so it is above the plot. `model` has the time of the preview.
   */
  show(drawing, { offsetX, offsetY, instant, model }) {
    const { lanes, plots, box } = drawing;
    const { fontScale, left, right } = box;
    const [x, y] = [offsetX / fontScale, offsetY / fontScale];
    const lane = lanes.find(({ top, bottom }) => y >= top && y < bottom);
    const mark = lane?.markAt(x);
    const isInPlot = !lane && plots.length > 0 && y < plots.at(-1).box.bottom && x >= left && x <= right;
    if (!mark && !isInPlot) return this.hide();
    this.#drawing = drawing;
    this.element.hidden = false;
    const key = `${model.preview} ${mark ? `${lane.top} ${mark.first} ${mark.items.length}` : instant}`;
    if (key !== this.#shown) {
      this.#shown = key;
      const balances = plots.map((plot) => plot.balance);
      render(this.element, mark ? markContent(mark, model) : balanceContent(balances, instant, model));
    }
    const at = mark ? mark.first : instant;
    const lineX = drawing.x(at);
    drawing.hover(at);
    this.element.classList.toggle("before", lineX > (left + right) / 2);
    const isNarrow = right < NARROW;
    this.element.classList.toggle("above", isNarrow);
    if (isNarrow) return this.element.removeAttribute("style");
    const bottom = mark ? lane.top : y;
    this.element.style.left = `${lineX * fontScale}px`;
    this.element.style.top = `${bottom * fontScale}px`;
    this.element.style.setProperty("--up", `${(TOP - bottom) * fontScale}px`);
  }
}
