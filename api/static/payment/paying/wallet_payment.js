// A payment from the customer's own wallet: which wallet, on which chain, what it signs, and how far that is.

import { fill } from "../shared/dom.js";
import { strings } from "../shared/language.js";

export class WalletPayment {
  late = ""; // what is said once the order ends while the wallet asks

  /**
   * @param {import("./connection.js").Connection} connection
   * @param {(text: string, isAsked?: boolean) => void} say shows what the wallet asks, before it asks, and what is
   *   waited for meanwhile
   */
  constructor(api, connection, say) {
    this.api = api;
    this.connection = connection;
    this.say = say;
  }

  /**
   * Have a quote paid.
   * @param {(sent: {chainId: number, hash: string|null, payer: string}) => void} onSent called once money is on its
   *   way, and again if its hash is known only later
   * @returns {Promise<{wallet: Wallet, account: string, hasReference: boolean}>} who paid, and whether the payment
   *   names its order; one that does not has to be signed for
   */
  async pay(quote, onSent) {
    const { wallet, account: payer } = await this.connection.confirm(this.say);
    const chainHex = `0x${quote.chain_id.toString(16)}`;
    this.say(fill(strings.wallet_switch, { chain: quote.chain }));
    const onUnknown = () => this.say(fill(strings.wallet_add, { chain: quote.chain }));
    await wallet.goTo(chainHex, quote.add_chain, onUnknown);
    this.say(strings.wallet_prepare, false);
    let payment = await this.api.transactions(quote.quote_id, payer);
    this.late = payment.words.late;
    const report = (hash) => {
      const explorerUrl = hash && payment.explorer_url ? fill(payment.explorer_url, { tx_hash: hash }) : null;
      const needsProof = !payment.has_reference;
      onSent({ chainId: payment.chain_id, chain: payment.chain, hash, explorer_url: explorerUrl, needsProof });
    };
    const paid = () => ({ wallet, account: payer, hasReference: payment.has_reference });
    if (payment.transactions.length > 1 && await wallet.isAtomic(payer, chainHex)) {
      await this.#sendAll(wallet, payer, payment, report);
      return paid();
    }
    const total = payment.transactions.length;
    for (let number = 1; ; number += 1) {
      const [next, ...rest] = payment.transactions;
      this.#show(next, number, total, payment.words);
      const hash = await wallet.send(payer, next).catch((problem) => throwExplained(problem, payment.words, number > 1));
      if (!rest.length) {
        report(hash);
        return paid();
      }
      this.say(payment.words.mining, false);
      await wallet.mined(hash);
      if (rest.length === 1) quote.prompts_text = payment.words.once; // the permission stays, whatever becomes of the payment
      // What could not be tried out before the permission was there is tried now.
      const again = rest[0].gas === null;
      payment = again ? await this.api.transactions(quote.quote_id, payer) : { ...payment, transactions: rest };
    }
  }

  async #sendAll(wallet, payer, payment, report) {
    this.say(payment.words.confirm_all);
    const batch = await wallet.sendAll(payer, payment.chain_hex, payment.transactions)
      .catch((problem) => throwExplained(problem, payment.words, false));
    report(null); // on its way from here on, whatever comes back
    report(await wallet.done(batch));
  }

  #show({ label }, number, total, words) {
    const values = { n: String(number), total: String(total), label };
    this.say(total > 1 ? fill(words.confirm_step, values) : words.confirm);
  }
}

/** Say what a wallet that sent nothing, or may have, leaves behind. */
function throwExplained(problem, { kept, failed, not_sent: label }, isPermitted) {
  if (problem.kind === "failed") Object.assign(problem, { explanation: failed, label });
  if (problem.kind === "rejected" && isPermitted) problem.explanation = kept;
  throw problem;
}
