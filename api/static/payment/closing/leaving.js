// Back to the shop, which closes nothing: the link goes there, and says first if a payment is on its way.

import { byId, toggle } from "../shared/dom.js";

export class Leaving {
  /** @param {() => boolean} isOnItsWay whether a payment may be on its way */
  constructor(isOnItsWay) {
    const dialog = byId("cancel-dialog");
    byId("cancel").addEventListener("click", (event) => {
      if (!isOnItsWay()) return;
      event.preventDefault();
      byId("cancel-leave").href = byId("cancel").href;
      dialog.showModal();
    });
    byId("cancel-stay").addEventListener("click", () => dialog.close());
  }

  /** Offer the way back that belongs to a state. */
  offer({ cancel_url: url, panel }, { cancel, back }) {
    toggle(byId("cancel-line"), Boolean(url));
    if (!url) return;
    byId("cancel").href = url;
    byId("cancel").textContent = panel === "progress" ? back : cancel;
  }
}
