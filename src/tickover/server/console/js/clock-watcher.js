// Polls a clock to show changes made elsewhere.

import { call } from "./rpc.js";

const EVERY = 2_000;
const WHILE_AWAY = 5_000;

/**
 * Ask for the clock every two seconds while somebody looks: `seen(clock)` with what it is, `failed(error)` with why not.
 * `failed` says whether to go on. Nobody is asked while `busy()`, so that nothing is in the way of a moving scrubber.
 */
export function watch(id, { seen, failed, busy }) {
  let timer = null;
  let asking = null;
  let stopped = false;

  const plan = (wait) => (timer = setTimeout(ask, wait));

  async function ask() {
    clearTimeout(timer);
    if (stopped || asking || document.hidden) return; // when the tab is seen again it asks at once
    if (busy()) return plan(EVERY / 4);
    asking = new AbortController();
    let wait = EVERY;
    try {
      const { clock } = await call("getTestClock", { id }, { quiet: true, signal: asking.signal });
      if (!stopped) seen(clock);
    } catch (error) {
      if (stopped) return;
      wait = failed(error) ? WHILE_AWAY : 0;
    } finally {
      asking = null;
    }
    if (wait && !stopped) plan(wait);
  }

  document.addEventListener("visibilitychange", ask);
  addEventListener("online", ask);
  plan(EVERY);
  return {
    again: ask,
    stop() {
      stopped = true;
      clearTimeout(timer);
      asking?.abort();
      document.removeEventListener("visibilitychange", ask);
      removeEventListener("online", ask);
    },
  };
}
