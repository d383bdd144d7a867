// <tick-clock>: one clock, at its frozen time or at a previewed time.

import { askToDelete, askWhereToFork } from "./clock-dialogs.js";
import { ClockHeader } from "./clock-header.js";
import { readClock, viewAt, writeParams } from "./clock-model.js";
import { nameOf, rename } from "./clock-names.js";
import "./clock-tables.js";
import { describe, plural, speak } from "./clock-text.js";
import { watch } from "./clock-watcher.js";
import { createClock, faultsOf, whyNotCreated } from "./create-clock.js";
import { h, say, show } from "./dom.js";
import { forkClock } from "./fork-clock.js";
import { formatInstant } from "./format.js";
import "./goals.js";
import { readInstant, writeInstant } from "./instants.js";
import { goTo, sayThere } from "./navigation.js";
import { Notice } from "./notice.js";
import { Away, call, Refusal } from "./rpc.js";
import { withinLife } from "./scrubber.js";
import { sessionCheck } from "./session.js";
import "./timeline.js";

const STILL = 400; // so long after the last move of the scrubber it is not moving any more
const RETRY_AFTER = 3_000;
const URL_AFTER = 300; // browsers refuse pages that change their address too often

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
  #notice = new Notice();

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
    this.#expiryTimer = setInterval(() => this.header.drawExpiry(), 30_000);
  }

  #build() {
    this.#notice.element.hidden = true;
    this.header = new ClockHeader({
      id: this.id_,
      status: this.#model.status,
      expiresAt: this.#model.expiresAt,
      onFork: () => this.#askFork(),
      onDelete: () => this.#askDelete(),
    });
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
      this.header.element,
      this.#notice.element,
      this.timeline,
      h("div", { class: "below" }, this.transactions, this.goals),
    );
    this.timeline.append(h("div", { class: "row commit" }, this.advance, this.forkHere, this.back, this.outlook));
  }

  /** Show another state of the clock, wherever it came from. */
  #take(model) {
    this.#model = model;
    this.#present = viewAt(model, model.now);
    this.header.setNow(model.now);
    this.timeline.show(model, this.#instant);
    this.transactions.show(model);
    this.goals.show(model);
    this.#draw();
  }

  #seen(clock) {
    if (this.#away) {
      this.#away = false;
      this.#hide(this.#notice.element);
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
    const isSame = sessionCheck();
    return this.#act(
      async () => {
        try {
          const clock = await forkClock(this.#model, at);
          if (isSame()) rename(clock.id, `Fork of ${nameOf(this.id_)}`);
          return clock;
        } catch (error) {
          if (error instanceof Away) this.#doubt = " It is not known whether the fork was made: look at Clocks.";
          throw error;
        }
      },
      (clock) =>
        goTo(
          `#/clock/${encodeURIComponent(clock.id)}`,
          `This is the fork. It stands at ${formatInstant(readInstant(clock.frozenTime))}.`,
        ),
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
      () => goTo("#/clocks", "The clock is deleted."),
    );
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
      this.#showNotice(
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

  #showNotice(message, ...actions) {
    if (!this.#notice.element.isConnected) show(this, this.#notice.element);
    this.#notice.show(message, ...actions);
  }

  #mourn(expired) {
    this.gone = true;
    this.#watch?.stop();
    const toClocks = h("a", { class: "button", href: "#/clocks" }, "Back to the clocks");
    if (!this.#model) {
      this.#showNotice(
        expired
          ? "This clock has expired: clocks live for seven days."
          : "There is no such clock. It was deleted, or is somebody else's.",
        toClocks,
      );
      return;
    }
    this.classList.add("gone");
    this.header.setStatus(expired ? "EXPIRED" : "DELETED");
    this.#draw();
    this.#showNotice(
      `${expired ? "This clock has expired: clocks live for seven days." : "This clock was deleted elsewhere."} What you see is its last state.`,
      h("button", { type: "button", class: "primary", onclick: () => this.#createAgain() }, "Create it again"),
      toClocks,
    );
  }
}

customElements.define("tick-clock", ClockPage);
