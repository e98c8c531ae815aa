// Remembers on this device that a payment was sent, until the server has news: a reload must not offer to pay twice.
// A payment that nobody sees is given up here after a while; the server still refuses to take two,
// also where nothing can be kept.

import { inStore } from "../shared/store.js";

const KEEP_MS = 60_000;
const KEEP_HASH_MS = 30 * 60_000;

export class Sent {
  constructor(orderId) {
    this.key = `checkout-sent:${orderId}`;
  }

  /** Whether a payment was sent of which this state does not know yet. */
  isPending(state) {
    const note = this.#note();
    if (note === null || note.isSeen) return false;
    if (note.report) return !lists(state, note.report) && Date.now() - note.at < KEEP_HASH_MS;
    return note.changes === state.changes && Date.now() - note.at < KEEP_MS;
  }

  /**
   * Note that a payment was sent while the order was in this state, by which quote, and what to report of it.
   * @param {boolean} isUnsure whether nobody knows that it went out
   */
  remember(state, report = null, quoteId = null, isUnsure = false) {
    this.#write({ at: Date.now(), changes: state.changes, report, quoteId, isUnsure, isReported: false, isSeen: false });
  }

  /** Whether nobody knows that the last payment went out. */
  get isUnsure() {
    return this.#note()?.isUnsure ?? false;
  }

  /** The quote to send the last payment by again, which pays once at most; null where that is known or too late. */
  get unsent() {
    const note = this.#note();
    return note?.isUnsure && Date.now() - note.at < KEEP_MS ? note.quoteId : null;
  }

  /** Note that the last payment went out. */
  settle() {
    this.#write({ ...this.#note(), isUnsure: false });
  }

  /** Note what the server has seen: if a block with it is undone, it is not on its way as it was. */
  learn(state) {
    const note = this.#note();
    if (note?.report && !note.isSeen && lists(state, note.report)) this.#write({ ...note, isSeen: true });
  }

  /** The transaction that was sent last, if this state does not list it; else null. */
  unlisted(state) {
    const { transaction } = this;
    return transaction && !lists(state, transaction) ? transaction : null;
  }

  /** Whether this state lists the transaction that was sent last; a test wallet tells none, so any will do. */
  isListed(state) {
    const { transaction } = this;
    return transaction ? lists(state, transaction) : this.quoteId !== null && state.transactions.length > 0;
  }

  /** What has to be reported still, or null. */
  get unreported() {
    const note = this.#note();
    return note?.report && !note.isReported ? note.report : null;
  }

  /** The transaction that was sent last, or null. */
  get transaction() {
    return this.#note()?.report ?? null;
  }

  /** The quote by which the last payment was made, or null. */
  get quoteId() {
    return this.#note()?.quoteId ?? null;
  }

  /** For how many seconds the last payment has been on its way. */
  get seconds() {
    return Math.max(0, Math.floor((Date.now() - (this.#note()?.at ?? Date.now())) / 1000));
  }

  /** Note that the server knows. */
  reported() {
    this.#write({ ...this.#note(), isReported: true });
  }

  #note() {
    return inStore((store) => JSON.parse(store.getItem(this.key)));
  }

  #write(note) {
    inStore((store) => store.setItem(this.key, JSON.stringify(note)));
  }
}

function lists({ transactions }, { hash }) {
  return transactions.some((row) => row.hash === hash);
}
