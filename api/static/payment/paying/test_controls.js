// Test mode only: lets things go wrong on purpose.

import { announce, byId, fillList, toggle } from "../shared/dom.js";
import { strings } from "../shared/language.js";

export class TestControls {
  /** @param {(state: object) => void} onDone */
  constructor(api, explain, onDone) {
    this.api = api;
    this.explain = explain;
    this.onDone = onDone;
  }

  /** Offer what the order's state allows. */
  offer(actions) {
    toggle(byId("test-controls"), actions.length);
    fillList(byId("test-grid"), "test-row", actions, (button, { action }) => {
      button.onclick = () => this.#run(action);
    }, ({ action }) => action);
  }

  async #run(action) {
    const buttons = byId("test-grid").querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    toggle(byId("test-problem"), false);
    announce(strings.simulating);
    try {
      this.onDone(await this.api.simulate(action));
    } catch (problem) {
      byId("test-problem").textContent = problem.told || this.explain(problem);
      toggle(byId("test-problem"), true);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }
}
