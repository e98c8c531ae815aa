// Remembers on this device that a payment was sent, until the server has news: a reload must not offer to pay twice.
// A payment that nobody sees for a minute is given up here; the server still refuses to take two.

const KEEP_MS = 60_000;

export class Sent {
  constructor(orderId) {
    this.key = `checkout-sent:${orderId}`;
  }

  /** Whether a payment was sent of which this state does not know yet. */
  isPending(state) {
    const [at, changes] = (this.#storage((store) => store.getItem(this.key)) ?? "").split("/").map(Number);
    return at > 0 && Date.now() - at < KEEP_MS && changes === state.changes;
  }

  /** Note that a payment was sent while the order was in this state. */
  remember(state) {
    this.#storage((store) => store.setItem(this.key, `${Date.now()}/${state.changes}`));
  }

  #storage(use) {
    try {
      return use(window.localStorage);
    } catch {
      return null; // storage may be forbidden; the server refuses a second payment then
    }
  }
}
