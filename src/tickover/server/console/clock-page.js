// <tick-clock>: one snapshot and one instant, from which all on the page follows.

import { askToDelete, askWhereToFork, describe, plural, speak } from "./clock-words.js";
import { createClock, faultsOf, whyNotCreated } from "./clocks-page.js";
import { copy, h, say, show } from "./dom.js";
import { formatInstant, formatWait } from "./format.js";
import "./lists.js";
import { DAY, readClock, readInstant, viewAt, writeInstant, writeParams } from "./model.js";
import { Away, call, nameOf, Refusal, rename, sessionCheck } from "./rpc.js";
import { withinLife } from "./scrubber.js";
import "./timeline.js";

// Watching a clock, so that what is done to it elsewhere is seen here.

const EVERY = 2_000;
const WHILE_AWAY = 5_000;

/**
 * Ask for the clock every two seconds while somebody looks: `seen(clock)` with what it is, `failed(error)` with why not.
 * `failed` says whether to go on. Nobody is asked while `busy()`, so that nothing is in the way of a moving scrubber.
 */
function watch(id, { seen, failed, busy }) {
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

// The page of one clock. It holds one snapshot and the instant that is looked at; everything shown follows from the two.

const STILL = 400; // so long after the last move of the scrubber it is not moving any more
const RETRY_AFTER = 3_000;
const URL_AFTER = 300; // browsers refuse pages that change their address too often

/** A change of page clears what was said, so it is said once the new one is there. */
const sayThere = (sentence) => addEventListener("hashchange", () => setTimeout(() => say(sentence)), { once: true });

class ClockPage extends HTMLElement {
  #model = null;
  #present = null;
  #instant = null;
  #watch = null;
  #frame = 0;
  #moved = 0;
  #urlTimer = 0;
  #expiryTimer = 0;
  #retryTimer = 0;
  #busy = false;
  #away = false;
  #doubt = "";

  connectedCallback() {
    this.id_ = this.argument;
    document.title = `${nameOf(this.id_)} · Tickover`;
    show(this, h("p", { class: "quiet" }, "Loading the clock …"));
    this.#load();
  }

  disconnectedCallback() {
    this.#watch?.stop();
    document.querySelector("dialog")?.close("");
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#urlTimer);
    clearTimeout(this.#retryTimer);
    clearInterval(this.#expiryTimer);
  }

  /** Somebody has changed the address: another preview of the same clock. */
  queryChanged(query = this.query) {
    if (this.#model) this.#look(this.#wanted(query) ?? this.#model.now);
  }

  async #load() {
    clearTimeout(this.#retryTimer);
    try {
      const { clock } = await call("getTestClock", { id: this.id_ });
      if (this.isConnected) this.#open(clock);
    } catch (error) {
      if (this.isConnected) this.#fail(error);
    }
  }

  #wanted(query) {
    const instant = readInstant(query?.get("t") ?? "");
    return Number.isNaN(instant) ? null : withinLife(this.#model, instant);
  }

  #open(clock) {
    this.#model = readClock(clock);
    this.#instant = this.#wanted(this.query) ?? this.#model.now;
    const hadFocus = this.contains(document.activeElement);
    this.#build();
    if (hadFocus) this.timeline.scrubber.slider.focus();
    this.#take(this.#model);
    this.#watch = watch(this.id_, {
      seen: (newer) => this.#seen(newer),
      failed: (error) => this.#fail(error),
      busy: () => this.#busy || performance.now() - this.#moved < STILL,
    });
    this.#expiryTimer = setInterval(() => this.#drawExpiry(), 30_000);
  }

  #build() {
    this.notice = h("div", { class: "card notice", role: "alert", hidden: true });
    this.now = h("strong", {});
    this.expiry = h("span", { class: "quiet" });
    this.heading = h("div", { class: "row clock-name" });
    this.timeline = h("tick-timeline", {
      class: "card",
      role: "group",
      "aria-labelledby": "timeline-title",
      onpreview: (event) => this.#look(event.detail),
    });
    this.advance = h("button", { type: "button", class: "primary advance", onclick: () => this.#advance() });
    this.back = h("button", { type: "button", onclick: () => this.#look(this.#model.now) }, "Back to now");
    this.forkHere = h("button", { type: "button", onclick: () => this.#fork(this.#instant) }, "Fork here");
    this.outlook = h("p", { class: "outlook", id: "outlook" });
    this.advance.setAttribute("aria-describedby", "outlook");
    this.transactions = h("tick-transactions", { class: "card" });
    this.goals = h("tick-goals", { class: "card" });
    show(
      this,
      h(
        "header",
        { class: "row clock-top" },
        this.heading,
        (this.badge = h("span", { class: "badge ready" }, this.#model.status)),
        h(
          "span",
          { class: "row id" },
          h("code", { title: this.id_ }, `${this.id_.slice(0, 14)}…`),
          h("button", { type: "button", class: "plain", onclick: () => copy(this.id_, "the clock's id") }, "Copy id"),
        ),
        this.expiry,
        h(
          "span",
          { class: "row deeds" },
          h("button", { type: "button", onclick: () => this.#askFork() }, "Fork …"),
          h("button", { type: "button", class: "danger", onclick: () => this.#askDelete() }, "Delete …"),
        ),
        h("p", { class: "now" }, "Now ", this.now),
      ),
      this.notice,
      this.timeline,
      h("div", { class: "below" }, this.transactions, this.goals),
    );
    this.timeline.append(h("div", { class: "row commit" }, this.advance, this.forkHere, this.back, this.outlook));
    this.#drawName();
    this.#drawExpiry();
  }

  #drawName() {
    const name = nameOf(this.id_);
    document.title = `${name} · Tickover`;
    const edit = h("button", { type: "button", class: "plain", onclick: () => this.#editName() }, "Rename");
    show(this.heading, h("h1", {}, name), edit);
    return edit;
  }

  #editName() {
    const field = h("input", {
      "aria-label": "Name of the clock",
      value: nameOf(this.id_),
      maxlength: "120",
      autocomplete: "off",
    });
    const done = () => this.#drawName().focus();
    const save = (event) => {
      event.preventDefault();
      rename(this.id_, field.value);
      done();
      say("The name is kept in this browser.");
    };
    const cancelOnEscape = (event) => event.key === "Escape" && done();
    show(
      this.heading,
      h(
        "form",
        { class: "row", onsubmit: save, onkeydown: cancelOnEscape },
        field,
        h("button", {}, "Save"),
        h("button", { type: "button", class: "plain", onclick: done }, "Cancel"),
      ),
    );
    field.select();
  }

  #drawExpiry() {
    const left = this.#model.expiresAt - Date.now();
    this.expiry.textContent = left > 0 ? `expires in ${formatWait(left)}` : "expired";
    this.expiry.classList.toggle("soon", left < DAY);
  }

  /** Show another state of the clock, wherever it came from. */
  #take(model) {
    this.#model = model;
    this.#present = viewAt(model, model.now);
    this.now.textContent = formatInstant(model.now);
    this.timeline.show(model, this.#instant);
    this.transactions.show(model);
    this.goals.show(model);
    this.#draw();
  }

  #seen(clock) {
    if (this.#away) {
      this.#away = false;
      this.#hide(this.notice);
      say(`The server is back.${this.#doubt}`);
      this.#doubt = "";
    }
    if (this.#busy || readInstant(clock.frozenTime) === this.#model.now) return;
    const wasLookingAtNow = this.#instant === this.#model.now;
    const model = readClock(clock, this.#model);
    const posted = viewAt(model, model.now).happened - this.#present.happened;
    if (wasLookingAtNow) this.#instant = model.now;
    this.#take(model);
    this.#keepInUrl();
    say(
      `Moved elsewhere to ${formatInstant(model.now)}; ${posted ? `${plural(posted, "item")} posted` : "nothing posted"}.`,
    );
  }

  /** Look at another instant. However often that is asked, it is drawn once a frame. */
  #look(instant) {
    this.#instant = instant;
    this.#moved = performance.now();
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
    this.#keepInUrl();
  }

  #draw() {
    const [model, present, instant] = [this.#model, this.#present, this.#instant];
    const view = instant === model.now ? present : viewAt(model, instant);
    this.timeline.preview(instant, speak(model, present, view));
    this.transactions.preview(model.now, instant);
    this.goals.preview(present, view);
    const [isNow, isBack] = [instant === model.now, instant < model.now];
    this.outlook.textContent = `${describe(model, present, view)}.`;
    this.advance.textContent = isNow || isBack ? "Advance …" : `Advance to ${formatInstant(instant)}`;
    this.advance.setAttribute("aria-disabled", String(isNow || isBack || Boolean(this.gone)));
    this.#hide(this.forkHere, !isBack);
    this.#hide(this.back, isNow);
    this.classList.toggle("looking-back", isBack);
  }

  /** What is hidden cannot keep the focus, which is not to be lost. */
  #hide(node, hidden = true) {
    if (hidden && node.contains(document.activeElement)) this.timeline.scrubber.slider.focus();
    node.hidden = hidden;
  }

  #keepInUrl() {
    clearTimeout(this.#urlTimer);
    this.#urlTimer = setTimeout(() => {
      const time = this.#instant === this.#model.now ? "" : `?t=${writeInstant(this.#instant)}`;
      history.replaceState(history.state, "", `#/clock/${encodeURIComponent(this.id_)}${time}`);
    }, URL_AFTER);
  }

  /** Do one thing at a time, and say what went wrong. For who has left the page meanwhile, nothing follows from it. */
  async #act(work, done) {
    if (this.#busy) return;
    this.#busy = true;
    this.setAttribute("aria-busy", "true");
    try {
      const result = await work();
      if (this.isConnected) done(result);
    } catch (error) {
      if (this.isConnected) this.#fail(error, true);
    } finally {
      this.#busy = false;
      this.removeAttribute("aria-busy");
    }
  }

  #advance() {
    const [instant, now] = [this.#instant, this.#model.now];
    if (this.gone) return say("The clock is gone, so it cannot be advanced.", { error: true });
    if (instant === now) return say("Pick a later time first: move the slider, press +1 day, or set the date.");
    if (instant < now) return say("Time only moves forward. Fork the clock to begin again from here.");
    return this.#act(
      () => call("advanceTestClock", { id: this.id_, frozenTime: writeInstant(instant) }),
      ({ clock }) => {
        const posted = viewAt(this.#model, instant).happened - this.#present.happened;
        if (this.#instant === instant) this.#instant = readInstant(clock.frozenTime);
        this.#take(readClock(clock, this.#model));
        this.#keepInUrl();
        say(
          `Advanced to ${formatInstant(this.#model.now)}; ${posted ? `${plural(posted, "item")} posted` : "nothing posted"}.`,
        );
      },
    );
  }

  async #askFork() {
    const at = await askWhereToFork(this.#model, this.#instant);
    if (at !== null) this.#fork(at);
  }

  #fork(at) {
    const fork = (more) => call("forkTestClock", { id: this.id_, ...more });
    const atStart = at === "start" || at === this.#model.start;
    const isSame = sessionCheck();
    return this.#act(
      async () => {
        try {
          const { clock } = await (atStart
            ? fork()
            : fork({ at: writeInstant(at) }).catch((error) => {
                // The start of a clock may be a day later than the page knows, and what is before it is taken for it.
                if (error.reason !== "INVALID_PARAMS" || at > this.#model.now) throw error;
                return fork();
              }));
          if (isSame()) rename(clock.id, `Fork of ${nameOf(this.id_)}`);
          return clock;
        } catch (error) {
          if (error instanceof Away) this.#doubt = " It is not known whether the fork was made: look at Clocks.";
          throw error;
        }
      },
      (clock) =>
        this.#goTo(clock.id, `This is the fork. It stands at ${formatInstant(readInstant(clock.frozenTime))}.`),
    );
  }

  /** The way on from a clock that is gone: what is still on the screen is enough to make it anew. */
  #createAgain() {
    return this.#act(
      () => createClock(writeParams(this.#model, writeInstant), nameOf(this.id_)),
      () => location.hash.includes(this.id_) || sayThere("This is a new clock with the same items, at their start."),
    );
  }

  async #askDelete() {
    if (!(await askToDelete(nameOf(this.id_)))) return;
    const isSame = sessionCheck();
    await this.#act(
      async () => {
        await call("deleteTestClock", { id: this.id_ });
        this.#watch.stop();
        if (isSame()) rename(this.id_, "");
      },
      () => this.#goTo(null, "The clock is deleted."),
    );
  }

  #goTo(id, sentence) {
    sayThere(sentence);
    const hash = id ? `#/clock/${encodeURIComponent(id)}` : "#/clocks";
    if (location.hash === hash) dispatchEvent(new Event("hashchange"));
    else location.hash = hash;
  }

  /** Say what is wrong and what can be done; whether it is worth asking again. What somebody has `asked` for is not asked again. */
  #fail(error, asked = false) {
    const complain = () =>
      say([whyNotCreated(error), ...faultsOf(error).map(({ path, message }) => `${path}: ${message}`)].join(" "), {
        error: true,
      });
    if (this.gone) return complain(); // the way on is there already
    if (
      error instanceof Away ||
      (asked ? ["UNAVAILABLE"] : ["UNAVAILABLE", "RATE_LIMITED", "INTERNAL"]).includes(error.reason)
    ) {
      this.#away = true;
      if (!this.#model) this.#retryTimer = setTimeout(() => this.#load(), RETRY_AFTER);
      this.#tell(
        `${error.message}${this.#doubt} ${this.#model ? "What you see is what was last known. " : ""}It is tried again every few seconds.`,
        h(
          "button",
          { type: "button", onclick: () => (this.#watch ? this.#watch.again() : this.#load()) },
          "Try again now",
        ),
      );
      return true;
    }
    if (!(error instanceof Refusal)) throw error;
    if (error.reason === "UNAUTHENTICATED") {
      say(error.message, { error: true }); // and the sign-in page is there already
      return false;
    }
    if (
      ["CLOCK_NOT_FOUND", "CLOCK_EXPIRED", "INVALID_PARAMS"].includes(error.reason) &&
      (!this.#model || error.reason !== "INVALID_PARAMS")
    ) {
      this.#mourn(error.reason === "CLOCK_EXPIRED");
      return false;
    }
    if (error.reason === "TIME_BEFORE_CURRENT") {
      say("The clock has moved elsewhere meanwhile, past that time.", { error: true });
      this.#watch?.again();
      return true;
    }
    complain();
    return true;
  }

  #mourn(expired) {
    this.gone = true;
    this.#watch?.stop();
    const toClocks = h("a", { class: "button", href: "#/clocks" }, "Back to the clocks");
    if (!this.#model) {
      this.#tell(
        expired
          ? "This clock has expired: clocks live for seven days."
          : "There is no such clock. It was deleted, or is somebody else's.",
        toClocks,
      );
      return;
    }
    this.classList.add("gone");
    this.badge.textContent = expired ? "EXPIRED" : "DELETED";
    this.#draw();
    this.#tell(
      `${expired ? "This clock has expired: clocks live for seven days." : "This clock was deleted elsewhere."} What you see is its last state.`,
      h("button", { type: "button", class: "primary", onclick: () => this.#createAgain() }, "Create it again"),
      toClocks,
    );
  }

  #tell(sentence, ...ways) {
    if (!this.notice) {
      this.notice = h("div", { class: "card notice", role: "alert" });
      show(this, this.notice);
    }
    const shown = this.notice.firstChild?.textContent === sentence && !this.notice.hidden;
    if (shown) return; // it is not said twice
    const hadFocus = this.notice.contains(document.activeElement);
    show(this.notice, h("p", {}, sentence), h("div", { class: "row" }, ways));
    this.notice.hidden = false;
    if (hadFocus) ways[0].focus();
  }
}

customElements.define("tick-clock", ClockPage);
