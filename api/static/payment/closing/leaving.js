// Back to the shop, which closes nothing: the link goes there, and says first if a payment is on its way.

import { byId, toggle } from "../shared/dom.js";

export class Leaving {
  #leave = null;

  /**
   * @param {() => boolean} isOnItsWay whether a payment may be on its way
   * @param {() => boolean} hasCome whether something is known to have come, or to have been sent
   */
  constructor(isOnItsWay, hasCome) {
    const dialog = byId("cancel-dialog");
    const [title, text] = ["cancel-title", "cancel-text"].map(byId);
    const usual = { title: title.textContent, text: text.textContent };
    byId("cancel").addEventListener("click", (event) => {
      if (!isOnItsWay() && !hasCome()) return;
      event.preventDefault();
      const said = (!isOnItsWay() && this.#leave) || usual;
      title.textContent = said.title;
      text.textContent = said.text;
      byId("cancel-leave").href = byId("cancel").href;
      dialog.showModal();
    });
    byId("cancel-stay").addEventListener("click", () => dialog.close());
  }

  /** Offer the way back that belongs to a state. */
  offer({ cancel_url: url, panel, leave }, { cancel, return: back }) {
    this.#leave = leave;
    toggle(byId("cancel-line"), url);
    if (!url) return;
    byId("cancel").href = url;
    byId("cancel").textContent = panel === "progress" || leave ? back : cancel;
  }
}
