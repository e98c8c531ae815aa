// Giving the order up, after a second look.

import { byId, toggle } from "./dom.js";

/** @param {(state: object) => void} onCancelled */
export function offerCancelling(api, explain, onCancelled) {
  const dialog = byId("cancel-dialog");
  byId("cancel").addEventListener("click", () => {
    toggle(byId("cancel-problem"), false);
    dialog.showModal();
  });
  byId("cancel-no").addEventListener("click", () => dialog.close());
  byId("cancel-yes").addEventListener("click", async () => {
    const button = byId("cancel-yes");
    button.disabled = true;
    try {
      const state = await api.cancel();
      dialog.close();
      onCancelled(state);
    } catch (problem) {
      byId("cancel-problem").textContent = explain(problem);
      toggle(byId("cancel-problem"), true);
    } finally {
      button.disabled = false;
    }
  });
}
