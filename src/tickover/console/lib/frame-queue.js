// Draws the parts of a page over several frames, because all at once would take longer than a frame.

/**
 * Draws one part in each frame, until all have been drawn since the last request: in turn one of `first` and one of
 * `others`. Fewer parts are drawn more often.
 */
export class FrameQueue {
  #draw;
  #lists = [[], []];
  #turn = 0;
  #end = 0;
  #frame = 0;

  /** `draw(part)` draws a part. */
  constructor(draw) {
    this.#draw = draw;
  }

  get parts() {
    return this.#lists.flat();
  }

  setParts(first, others) {
    this.#lists = [first, others];
  }

  /** Draw all parts again. */
  request() {
    this.#end = this.#turn + 2 * Math.max(...this.#lists.map(({ length }) => length));
    this.#frame ||= requestAnimationFrame(() => this.#drawFrame());
  }

  cancel() {
    cancelAnimationFrame(this.#frame);
  }

  #drawFrame() {
    const list = this.#lists[this.#turn % 2];
    this.#draw(list[Math.floor(this.#turn / 2) % list.length]);
    this.#turn += 1;
    this.#frame = this.#turn < this.#end ? requestAnimationFrame(() => this.#drawFrame()) : 0;
  }
}
