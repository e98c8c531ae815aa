// What a closed order says of payments: nothing, until the chains were read once more and none is known here either.

import { byId, fill, toggle } from "./dom.js";
import { formatMoment, strings } from "./language.js";

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

  /** Whether a closed order's chains have not been read since. */
  isUnderWay({ panel, tone, looked_at: lookedAt }) {
    if (panel !== "outcome" || tone === "notice") return false;
    return this.#since === null || lookedAt === null || lookedAt < this.#since;
  }

  /** Show what is known of a closed order. */
  show(state) {
    if (state.now === null) return; // the page says what was known when it was made
    const isClosed = state.panel === "outcome" && state.tone !== "notice";
    if (isClosed) this.#since ??= state.now;
    const isWaiting = this.isUnderWay(state);
    const until = state.nothing_seen_until;
    const isKnown = isClosed && until !== null && this.sent.transaction === null;
    toggle(byId("looking"), isWaiting && until === null && state.transactions.length === 0);
    toggle(byId("nothing-seen"), isKnown);
    if (isKnown) byId("nothing-seen").textContent = fill(strings.nothing_seen, { time: formatMoment(until) });
  }
}
