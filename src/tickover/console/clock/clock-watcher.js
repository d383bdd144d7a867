// Polls a clock to show changes made elsewhere.

import { call } from "../lib/rpc.js";

const POLL_MS = 2_000;
const RETRY_MS = 5_000;

/**
 * Poll the clock every two seconds while the tab is visible. Call `onClock(clock, requestedAt)` or `onError(error)`;
 * `onError` returns whether polling continues. Polling waits while `isPaused()`, so it never disturbs a moving scrubber.
 */
export function watchClock(id, { onClock, onError, isPaused }) {
  let timer = null;
  let request = null;
  let stopped = false;

  const schedule = (wait) => (timer = setTimeout(poll, wait));

  async function poll() {
    clearTimeout(timer);
    if (stopped || request || document.hidden) return; // a visibilitychange event polls again
    if (isPaused()) return schedule(POLL_MS / 4);
    request = new AbortController();
    let wait = POLL_MS;
    const requestedAt = performance.now();
    try {
      const { clock } = await call("getTestClock", { id }, { quiet: true, signal: request.signal });
      if (!stopped) onClock(clock, requestedAt);
    } catch (error) {
      if (stopped) return;
      wait = onError(error) ? RETRY_MS : 0;
    } finally {
      request = null;
    }
    if (wait && !stopped) schedule(wait);
  }

  document.addEventListener("visibilitychange", poll);
  addEventListener("online", poll);
  schedule(POLL_MS);
  return {
    poll,
    stop() {
      stopped = true;
      clearTimeout(timer);
      request?.abort();
      document.removeEventListener("visibilitychange", poll);
      removeEventListener("online", poll);
    },
  };
}
