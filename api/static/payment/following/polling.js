// Asks the server where the order stands: often while something is under way, at once when the customer comes back.

export const BUSY_MS = 3_000;
export const CALM_MS = 8_000;
export const LIVE_MS = 20_000; // while the server tells by itself; a stream may be dead without a sign of it
const TROUBLE_MS = 5_000;

export class Polling {
  #timer = 0;
  #isAsking = false;
  #isAskedAgain = false;
  #everyMs = 0;

  /**
   * @param {() => Promise<object>} ask
   * @param {(state: object) => void} onState
   * @param {(problem: Error|null) => void} onTrouble null once it is over
   */
  constructor(ask, onState, onTrouble) {
    this.ask = ask;
    this.onState = onState;
    this.onTrouble = onTrouble;
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.now(); });
    window.addEventListener("focus", () => this.now());
    for (const kind of ["online", "offline"]) window.addEventListener(kind, () => this.now());
  }

  /** Ask again and again; with 0 only when the customer comes back. */
  every(milliseconds) {
    this.#everyMs = milliseconds;
    this.#schedule(milliseconds);
  }

  /** Ask at once; an answer that is under way may be older, so another question follows it. */
  now() {
    if (this.#isAsking) this.#isAskedAgain = true;
    else this.#run();
  }

  #schedule(milliseconds) {
    clearTimeout(this.#timer);
    if (milliseconds) this.#timer = setTimeout(() => this.#run(), milliseconds);
  }

  #askAgain() {
    this.#isAskedAgain = false;
    this.#run();
  }

  async #run() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    let wait = this.#everyMs;
    try {
      const state = await this.ask();
      this.onTrouble(null);
      this.onState(state);
      wait = this.#everyMs;
    } catch (problem) {
      this.onTrouble(problem);
      wait = Math.max(TROUBLE_MS, (problem.retryAfterS ?? 0) * 1000);
    } finally {
      this.#isAsking = false;
      if (this.#isAskedAgain) this.#askAgain();
      else this.#schedule(wait);
    }
  }
}
