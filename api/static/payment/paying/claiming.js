// Proving whose a payment was: the wallet signs, which costs nothing and moves nothing; the server looks and decides.

import { refusalOf } from "../shared/api.js";
import { announce, byId, fillList, focusOn, toggle } from "../shared/dom.js";

const HASH = /0x[0-9a-f]{64}(?![0-9a-f])/i; // also in an explorer's address
const SETTLED = ["success", "refunded"];

export class Claiming {
  /**
   * @param {(say: (text: string) => void) => Promise<{wallet: import("./wallet.js").Wallet, account: string}>} connect
   * @param {(problem: Error) => string} explain
   * @param {(state: object) => void} onState
   */
  constructor(api, connect, explain, onState) {
    this.api = api;
    this.connect = connect;
    this.explain = explain;
    this.onState = onState;
    byId("claim-form").addEventListener("submit", (event) => { event.preventDefault(); this.#submit(); });
  }

  /** Offer it where it may help. */
  offer({ payment_order_status: status, tone }, transaction) {
    toggle(byId("claim"), !SETTLED.includes(status) && tone !== "notice");
    if (transaction && !byId("claim-hash").value) this.#fillIn(transaction);
    if (transaction?.needsProof) byId("claim").open = true;
  }

  /** Open it for who says that they have paid. */
  open(isOpen) {
    byId("claim").open = isOpen;
  }

  /** Prove a payment that was just sent, with the wallet that sent it. */
  proveOwn(transaction, payer) {
    this.#fillIn(transaction);
    byId("claim").open = true;
    return this.#prove(transaction, payer);
  }

  #fillIn({ chainId, hash }) {
    byId("claim-chain").value = String(chainId);
    byId("claim-hash").value = hash;
  }

  async #submit() {
    const [hash] = HASH.exec(byId("claim-hash").value) ?? [];
    if (!hash) return this.#say(byId("claim-hash").dataset.wrong, "bad");
    return this.#prove({ chainId: Number(byId("claim-chain").value), hash: hash.toLowerCase() });
  }

  async #prove({ chainId, hash }, payer = null) {
    const button = byId("claim-button");
    button.disabled = true;
    toggle(byId("claim-choice"), false);
    try {
      const { wallet, account } = payer ?? await this.connect((text) => this.#say(text));
      const found = await this.api.claims({ chainId, hash, account });
      if (!found.candidates.length) throw refusalOf(found);
      const { log_index: logIndex, typed_data: typedData } = await this.#choose(found.candidates);
      this.#say(found.words.signing);
      const signature = await wallet.sign(account, typedData).catch((problem) => {
        throw Object.assign(problem, { explanation: found.words[problem.kind] });
      });
      const state = await this.api.claim({ chainId, hash, logIndex, account, signature });
      this.#say(state.claim_text, "good");
      this.onState(state);
    } catch (problem) {
      this.#say(this.explain(problem), "bad");
    } finally {
      button.disabled = false;
      toggle(byId("claim-choice"), false);
    }
  }

  /** Let the customer say which transfer it is, where a transaction made several. */
  async #choose(candidates) {
    if (candidates.length === 1) return candidates[0];
    toggle(byId("claim-said"), false);
    toggle(byId("claim-choice"), true);
    return new Promise((resolve) => {
      fillList(byId("claim-candidates"), "claim-row", candidates, (row, candidate) => {
        row.onclick = () => resolve(candidate);
      });
      focusOn(byId("claim-candidates").firstElementChild);
    });
  }

  #say(text, look = "") {
    const said = byId("claim-said");
    said.className = `notice ${look}`;
    said.textContent = text;
    toggle(said, true);
    announce(text);
  }
}
