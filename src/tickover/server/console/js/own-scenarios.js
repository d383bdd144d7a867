// The user's own scenarios in TOML. The server doesn't store them, so the browser does.

import { currentSession } from "./session.js";
import { DEVICE, readStored, SCENARIOS_KEY, writeStored } from "./storage.js";

export const MAX_SCENARIOS = 20;

const owner = () => currentSession()?.userId ?? "";
const store = (scenarios) =>
  writeStored(DEVICE, SCENARIOS_KEY, { ...readStored(DEVICE, SCENARIOS_KEY), [owner()]: scenarios });

/** Return the scenarios of the signed-in user, newest first: `{ id, text }`. */
export const ownScenarios = () => readStored(DEVICE, SCENARIOS_KEY)?.[owner()] ?? [];

/** Store a scenario, or replace the one with this id. Return its id, or undefined if the browser can't store it. */
export function saveScenario(text, id = `${Date.now()}`) {
  const others = ownScenarios().filter((scenario) => scenario.id !== id);
  return others.length < MAX_SCENARIOS && store([{ id, text }, ...others]) ? id : undefined;
}

export const deleteScenario = (id) => store(ownScenarios().filter((scenario) => scenario.id !== id));
