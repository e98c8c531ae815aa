// What a closed order says of payments: nothing, until the chains were read once more and none is known here either.

import { byId, fill, toggle } from "../shared/dom.js";
import { formatMoment, strings } from "../shared/language.js";

export class Look {
  #since = null;

  /** @param {import("./sent.js").Sent} sent */
  constructor(sent) {
    this.sent = sent;
  }

  /** Begin to look once more: what was known before the next answer does not count. */
  begin() {
    this.#since = null;
  }

  /** Show what is known of a closed order. */
  show(state) {
    if (state.now === null) return; // the page says what was known when it was made
    const isClosed = state.panel === "outcome" && state.tone !== "notice";
    if (isClosed) this.#since ??= state.now;
    const isWaiting = isClosed && !(state.looked_at >= this.#since); // nor where it is null
    const until = state.nothing_seen_until;
    const isKnown = isClosed && until && !this.sent.transaction;
    // Who has said that they paid reads how long we look.
    toggle(byId("looking"), isWaiting && !until && !state.transactions.length && byId("i-paid-text").hidden);
    toggle(byId("nothing-seen"), isKnown);
    if (isKnown) byId("nothing-seen").textContent = fill(strings.nothing_seen, { time: formatMoment(until) });
  }
}
