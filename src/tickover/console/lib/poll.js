// Loads something again and again, to show changes made elsewhere.

const POLL_MS = 2_000;
const RETRY_MS = 5_000;

/**
 * Call `load(signal)` every two seconds while the tab is visible, and `onLoad(loaded)` or `onError(error)`, which returns
 * whether polling continues. Polling waits while `isBusy()`, so it never disturbs a moving scrubber.
 */
export function startPolling(load, { onLoad, onError, isBusy = () => false }) {
  let timer = null;
  let request = null;
  let actions = 0;
  let stopped = false;

  const schedule = (wait) => (timer = setTimeout(poll, wait));

  async function poll() {
    clearTimeout(timer);
    if (stopped || request || document.hidden) return; // a visibilitychange event polls again
    if (actions || isBusy()) return schedule(POLL_MS / 4);
    const controller = (request = new AbortController());
    let wait = POLL_MS;
    try {
      const loaded = await load(controller.signal);
      if (!controller.signal.aborted) onLoad(loaded);
    } catch (error) {
      if (!controller.signal.aborted) wait = onError(error) ? RETRY_MS : 0;
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
    /** Run an action of the user. A response to an earlier poll would revert it, so drop that, and send none meanwhile. */
    async pauseWhile(work) {
      request?.abort();
      actions += 1;
      try {
        return await work();
      } finally {
        actions -= 1;
      }
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      request?.abort();
      document.removeEventListener("visibilitychange", poll);
      removeEventListener("online", poll);
    },
  };
}
