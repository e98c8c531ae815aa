// Tells the server which transaction a wallet has sent, again and again until it knows, also after a reload; and sends a
// payment from the test wallet once more whose answer was lost, which the server takes once at most.

const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

export class Reporting {
  #isRunning = false;

  /** @param {() => void} onSettled it is known that the payment went out */
  constructor(api, sent, onSettled) {
    this.api = api;
    this.sent = sent;
    this.onSettled = onSettled;
  }

  /** Report what is not reported yet; returns at once. */
  start() {
    if (!this.#isRunning) this.#run();
  }

  async #run() {
    this.#isRunning = true;
    for (let wait = FIRST_MS; this.sent.unreported || this.sent.unsent; wait = Math.min(2 * wait, LONGEST_MS)) {
      try {
        await (this.sent.unsent ? this.#sendAgain() : this.#report());
      } catch (problem) {
        if (problem.kind === "refused") break; // it finds the payment by itself
        await waitOrOnline(wait);
      }
    }
    this.#isRunning = false;
  }

  async #report() {
    await this.api.report(this.sent.unreported);
    this.sent.reported();
  }

  async #sendAgain() {
    try {
      await this.api.pay(this.sent.unsent);
    } catch (problem) {
      if (problem.kind !== "refused" || problem.reason) throw problem;
      // one is on its way already: it was taken the first time
    }
    this.sent.settle();
    this.onSettled();
  }
}

function waitOrOnline(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    window.addEventListener("online", resolve, { once: true });
  });
}
