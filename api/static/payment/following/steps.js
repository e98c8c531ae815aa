// The stages of a payment on its way. The time that the present one takes runs on by the machine's own steady clock.

import { clock } from "../shared/countdown.js";
import { announce, byId, fillList, toggle } from "../shared/dom.js";

const FULL_HASH = /^(.{8}).*(.{6})$/;

export class Steps {
  #drawn = "";
  #running = null;
  #timer = 0;

  /** @param {(isLate: boolean) => void} onLate whether the present stage takes longer than it should */
  constructor(onLate) {
    this.onLate = onLate;
  }

  /** Draw the stages; those that are drawn already only get the right time. */
  show(steps) {
    const key = JSON.stringify(steps.map(({ elapsed, elapsed_s: seconds, is_late: isLate, ...rest }) => rest));
    if (key !== this.#drawn) this.#draw(steps);
    this.#drawn = key;
    this.#run(steps);
  }

  /** Stop the clock. */
  stop() {
    clearInterval(this.#timer);
    this.#running = null;
    this.#drawn = "";
  }

  #draw(steps) {
    fillList(byId("steps"), "step-row", steps, (row, step) => {
      row.dataset.state = step.state;
      const link = row.querySelector("a");
      toggle(link.parentElement, step.hash);
      if (step.explorer_url) link.href = step.explorer_url;
      toggle(row.querySelector('[data-slot="late_text"]'), false);
    });
  }

  #run(steps) {
    clearInterval(this.#timer);
    const index = steps.findIndex(({ elapsed_s: seconds }) => seconds !== null);
    const wasLate = this.#running?.index === index && this.#running.isLate;
    this.#running = null;
    if (index < 0) return this.onLate(false);
    const step = steps[index];
    this.#running = { index, isLate: wasLate, step, began: performance.now() - step.elapsed_s * 1000 };
    this.#timer = setInterval(() => this.#tick(), 1000);
    return this.#tick();
  }

  #tick() {
    const { index, isLate: wasLate, step, began } = this.#running;
    const seconds = Math.floor((performance.now() - began) / 1000);
    const row = byId("steps").children[index];
    row.querySelector('[data-slot="elapsed"]').textContent = clock(seconds);
    const isLate = Boolean(step.late_text) && seconds > step.late_after_s;
    this.#running.isLate = isLate;
    toggle(row.querySelector('[data-slot="late_text"]'), isLate);
    if (isLate && !wasLate) announce(step.late_text);
    this.onLate(isLate);
  }
}

/** The stages of a payment that was sent from here a while ago, with its transaction once there is one. */
export function withOwn(steps, own, seconds) {
  const [first, ...rest] = steps;
  const seen = { ...first, elapsed_s: seconds };
  if (!own) return [seen, ...rest];
  const text = own.hash.replace(FULL_HASH, "$1…$2");
  return [{ ...seen, hash: own.hash, hash_text: text, explorer_url: own.explorer_url ?? null }, ...rest];
}
