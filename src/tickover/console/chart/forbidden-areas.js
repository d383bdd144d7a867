// Hatched areas that the expectations forbid, and the parts of a curve in them.

import { newId, s } from "../lib/dom.js";
import { areaPath, curvePath } from "./chart-paths.js";

/** Return the pattern of what an expectation forbids. */
export function hatch() {
  return s(
    "pattern",
    { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("path.hatch", { d: "M0 0V6" }),
  );
}

/** Return the bounds `{ value, isLast }` of rules that hold in a window. The last ones hold at its end. */
export function boundsIn(rules, { from, to }) {
  const bounds = new Map();
  for (const rule of rules)
    for (const value of [rule.atLeast, rule.atMost])
      if (value !== undefined && rule.from <= to && rule.to >= from)
        bounds.set(value, bounds.get(value) || rule.to >= to);
  return [...bounds].map(([value, isLast]) => ({ value, isLast }));
}

/** Return the strictest of the rules with a bound at each time: rules that don't overlap. */
function strictest(rules, bound, pick) {
  const bounded = rules.filter((rule) => rule[bound] !== undefined);
  const times = [...new Set(bounded.flatMap(({ from, to }) => [from, to]))].sort((left, right) => left - right);
  const ranges = [];
  times.slice(1).forEach((to, index) => {
    const from = times[index];
    const values = bounded.filter((rule) => rule.from <= from && rule.to >= to).map((rule) => rule[bound]);
    if (!values.length) return;
    const last = ranges.at(-1);
    if (last?.to === from && last[bound] === pick(...values)) last.to = to;
    else ranges.push({ from, to, [bound]: pick(...values) });
  });
  return ranges;
}

/** Return the sides `{ y, height, bound }` that a rule forbids, and the range `{ x, width }` in which it holds. */
function forbiddenSides({ atLeast, atMost, from, to }, x, box) {
  const { top, bottom, y } = box;
  const [start, end] = [x(Math.max(from, box.from)), x(Math.min(to, box.to))];
  return [
    atLeast !== undefined && { y: y(atLeast), height: bottom - y(atLeast), bound: atLeast },
    atMost !== undefined && { y: top, height: y(atMost) - top, bound: atMost },
  ]
    .filter((side) => side && side.height > 0)
    .map((side) => ({ ...side, x: start, width: Math.max(0, end - start) }));
}

/** Hatch what the rules forbid. */
export const drawForbidden = (rules, x, box) =>
  [...strictest(rules, "atLeast", Math.max), ...strictest(rules, "atMost", Math.min)]
    .flatMap((rule) => forbiddenSides(rule, x, box))
    .map(({ bound, ...side }) => s("rect.forbidden", { fill: "url(#hatch)", ...side }));

/** Draw the parts of the curve on the forbidden sides of the rules in red. Half of its line can reach into a side. */
export const drawViolations = (curve, rules, x, box) =>
  rules
    .flatMap((rule) => forbiddenSides(rule, x, box))
    .filter(({ y, height }) => y < curve.lowest + 1 && y + height > curve.highest - 1)
    .map(({ bound, ...side }) => {
      const id = newId();
      const line = side.width > 0 ? curvePath(curve, side.x, side.x + side.width) : "";
      return s(
        "g.violated",
        { "clip-path": `url(#${id})` },
        s("clipPath", { id }, s("rect", { ...side, x: side.x - 1, width: side.width + 2 })),
        s("path.area", { d: line && areaPath(line, box.y(bound), side.x) }),
        s("path.line", { d: line }),
      );
    });
