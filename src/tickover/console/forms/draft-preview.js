// The preview of a clock before it is created: its curve, its lowest balance, and how much it contains.

import { labelledSparkline } from "../chart/sparkline.js";
import { parseDraft } from "../clock/clock-model.js";
import { summaryParts } from "../clock/clock-text.js";
import { isExpectation, lowestBalances } from "../clock/expectations.js";
import { h, render } from "../lib/dom.js";
import { formatDay, formatMoney } from "../lib/format.js";
import { entriesOf } from "./clock-form-rows.js";

const HEIGHT = 96;

/** Draw the curves with the dates of their ends. A single currency has labels for zero and for its highest balance. */
function draftChart(model, lows) {
  const curve = labelledSparkline(model, { width: 1080, height: HEIGHT, lows });
  const zero = curve.querySelector(".zero")?.getAttribute("y1") ?? HEIGHT;
  const label = h("span.zero-label", "0");
  label.style.setProperty("--zero-position", zero / HEIGHT);
  const [{ times, values, currency }] = [...model.balances, { times: model.times, values: [0] }];
  const from = values[0] === 0 ? times[0] : Math.min(model.start, times[0]);
  const highest = Math.max(...values);
  const hasScale = (model.balances.length || model.goals.length) < 2;
  return h(
    "div.draft-chart",
    curve,
    hasScale && highest > 0 && h("span.top-label", formatMoney(highest, currency)),
    hasScale && label,
    h(
      "p.draft-dates",
      [from, model.times.at(-1)].map((at) => h("span", formatDay(at))),
    ),
  );
}

/**
 * Create an element whose `draw(params)` shows a clock with these parameters of createTestClock. Without
 * items, it shows a hint, or another text.
 */
export function draftPreview(hint = "") {
  const element = h("div.draft-preview");
  const draw = (params, text = hint) => {
    // The user can write any JSON.
    const model = parseDraft({ ...params, expectations: entriesOf(params.expectations).filter(isExpectation) });
    if (!model?.items.length) return render(element, text && h("p.muted", text));
    const lows = lowestBalances(model);
    return render(
      element,
      draftChart(model, lows),
      h(
        "p.muted",
        lows.map(({ value, currency, at, isLow }, index) => [
          index === 0 ? "Lowest " : ", ",
          h("strong", { class: isLow ? "below-zero" : undefined }, formatMoney(value, currency)),
          ` on ${formatDay(at)}`,
        ]),
        lows.length > 0 && " · ",
        summaryParts(model).join(" · "),
      ),
    );
  };
  return { element, draw };
}
