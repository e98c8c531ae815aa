// Tells the server which transaction a wallet has sent, again and again until it knows, also after a reload.

const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

export class Reporting {
  #isRunning = false;

  constructor(api, sent) {
    this.api = api;
    this.sent = sent;
  }

  /** Report what is not reported yet; returns at once. */
  start() {
    if (!this.#isRunning) this.#run();
  }

  async #run() {
    this.#isRunning = true;
    for (let wait = FIRST_MS; this.sent.unreported; wait = Math.min(2 * wait, LONGEST_MS)) {
      try {
        await this.api.report(this.sent.unreported);
        this.sent.reported();
      } catch (problem) {
        if (problem.kind === "refused") break; // it finds the payment by itself
        await new Promise((resolve) => { setTimeout(resolve, wait); });
      }
    }
    this.#isRunning = false;
  }
}
