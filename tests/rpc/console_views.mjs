// Reads cases from standard input, and prints what the console shows of each clock at some instants.

import { text } from "node:stream/consumers";
import { lowestPoint, parseClock, parseParams, toParams, viewAt } from "../../src/tickover/console/clock/clock-model.js";
import { parseInstant } from "../../src/tickover/console/lib/instants.js";

function viewOf(model, instant) {
  const view = viewAt(model, instant);
  const balances = model.balances.map((balance) => {
    const lowest = lowestPoint(balance, model.start, instant);
    return [balance.currency, [view.balances.get(balance.currency), lowest.value]];
  });
  const items = model.items.slice(0, view.postedCount);
  return {
    posted: items.map((item) => item.id ?? "").sort(),
    balances: Object.fromEntries(balances.sort()),
    goals: view.goals.map(({ current, remaining, percent, postedCount, next }) => ({
      current,
      remaining,
      percent,
      posted: postedCount,
      next: next?.amount ?? null,
    })),
  };
}

/** A case has a snapshot, perhaps with the snapshot before it, or the parameters of a clock. */
function run({ snapshot, before, params, instants }) {
  const model = params
    ? parseParams(params)
    : before
      ? parseClock(snapshot, parseClock(before))
      : parseClock(snapshot);
  return { views: instants.map((instant) => viewOf(model, parseInstant(instant))), params: toParams(model) };
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(run)));
