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
    const isWaiting = isClosed && (state.looked_at === null || state.looked_at < this.#since);
    const until = state.nothing_seen_until;
    const isKnown = isClosed && until !== null && this.sent.transaction === null;
    toggle(byId("looking"), isWaiting && until === null && state.transactions.length === 0);
    toggle(byId("nothing-seen"), isKnown);
    if (isKnown) byId("nothing-seen").textContent = fill(strings.nothing_seen, { time: formatMoment(until) });
  }
}
