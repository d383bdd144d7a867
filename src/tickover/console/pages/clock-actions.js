// The actions of a clock: advance, amend, fork, delete, and create it again.

import { FORK_LABEL, loadClock } from "../clock/clock-calls.js";
import { clockName, forkName } from "../clock/clock-text.js";
import { confirmAction } from "../lib/dialog.js";
import { formatInstant } from "../lib/format.js";
import { parseInstant, toTimestamp } from "../lib/instants.js";
import { notify } from "../lib/notification.js";
import { call, RpcError, ServerUnavailable } from "../lib/rpc.js";
import { askFork, confirmCancellation } from "./clock-dialogs.js";
import { askItem } from "./item-dialog.js";

/** Notify once the next page is shown, because a change of page clears the notification. */
const notifyAfterNavigation = (message) =>
  addEventListener("hashchange", () => setTimeout(() => notify(message)), { once: true });

/** Go to a page and notify there, even if it is the current page. */
function navigate(hash, message) {
  notifyAfterNavigation(message);
  if (location.hash === hash) dispatchEvent(new Event("hashchange"));
  else location.hash = hash;
}

const MAX_LABELS = 20; // of a clock

export class ClockActions {
  isBusy = false;
  /** A warning for the time when the server is available again. */
  warning = "";
  #page;
  #hooks;

  /**
   * `page` is the clock's page. `hooks` has `model()`, `pauseWhile(work)` of the watcher, `onAdvanced`,
   * `onAmended`, `onDeleted` and `onError`.
   */
  constructor(page, hooks) {
    this.#page = page;
    this.#hooks = hooks;
  }

  /** Run one action at a time and report its error. If the user has left the page, ignore the outcome. */
  async #run(work, onDone, onError = this.#hooks.onError) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.#page.setAttribute("aria-busy", "true");
    try {
      const result = await this.#hooks.pauseWhile(work);
      if (this.#page.isConnected) onDone(result);
    } catch (error) {
      if (this.#page.isConnected) onError(error);
    } finally {
      this.isBusy = false;
      this.#page.removeAttribute("aria-busy");
    }
  }

  /** Change the clock and return it. Only responses with details have the initial amounts of goals added elsewhere. */
  async #change(method, params, options) {
    const { clock } = await call(method, params, options);
    return this.#complete(clock);
  }

  async #complete(clock) {
    const known = new Set(this.#hooks.model().goals.map(({ id }) => id));
    if (clock.goals.every(({ id }) => known.has(id))) return clock;
    return loadClock(clock.id, { quiet: true });
  }

  advance(instant) {
    const { id, now } = this.#hooks.model();
    if (this.#page.isGone) return notify("This clock no longer exists, so it can't be advanced.", { error: true });
    if (instant <= now) return notify("The clock is at its end, so it can't be advanced.", { error: true });
    return this.#run(
      async () => {
        const params = { id, frozenTime: toTimestamp(instant), events: true };
        const result = await call("advanceTestClock", params);
        return { ...result, clock: await this.#complete(result.clock) };
      },
      (result) => this.#hooks.onAdvanced(result),
    );
  }

  /** Ask for an item and add it. The dialog stays open until the server accepts the item. */
  askItem(instant) {
    const { id } = this.#hooks.model();
    if (this.#page.isGone) return notify("This clock no longer exists, so it can't change.", { error: true });
    return askItem(this.#hooks.model(), instant, async (add, headers) => {
      if (this.isBusy) throw new RpcError({ message: "Another action is running. Try again." });
      return new Promise((resolve, reject) =>
        this.#run(
          () => this.#change("amendTestClock", { id, add }, { headers }),
          (clock) => resolve(this.#hooks.onAmended(clock)),
          reject,
        ),
      );
    });
  }

  /** Ask whether to cancel an item, or all pending items like it. */
  async askCancel(item) {
    const model = this.#hooks.model();
    const cancel = await confirmCancellation(model, item);
    if (!cancel) return;
    await this.#run(
      () => this.#change("amendTestClock", { id: model.id, cancel }),
      (clock) => this.#hooks.onAmended(clock),
    );
  }

  async askFork(instant) {
    const choice = await askFork(this.#hooks.model(), instant);
    if (choice) this.fork(choice.at, choice.name);
  }

  fork(at, name) {
    const model = this.#hooks.model();
    const labels = { ...model.labels, [FORK_LABEL]: model.id };
    if (Object.keys(labels).length > MAX_LABELS) delete labels[FORK_LABEL];
    return this.#run(
      async () => {
        try {
          const params = { id: model.id, name: name || forkName(model), at: toTimestamp(at), labels };
          const { clock } = await call("forkTestClock", params);
          return clock;
        } catch (error) {
          if (error instanceof ServerUnavailable) this.warning = " The fork may exist. Check your clocks.";
          throw error;
        }
      },
      (clock) =>
        navigate(
          `#/clock/${encodeURIComponent(clock.id)}`,
          `This is the fork. Its time is ${formatInstant(parseInstant(clock.frozenTime))}.`,
        ),
    );
  }

  async askDelete() {
    const model = this.#hooks.model();
    const consequence = "This deletes the clock permanently, for everyone who uses it. Its forks remain.";
    if (!(await confirmAction(`Delete “${clockName(model)}”?`, consequence, "Delete clock"))) return;
    await this.#run(
      async () => {
        await call("deleteTestClock", { id: model.id });
        this.#hooks.onDeleted();
      },
      () => navigate("#/clocks", "The clock was deleted."),
    );
  }
}
