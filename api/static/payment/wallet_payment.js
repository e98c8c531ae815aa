// A payment from the customer's own wallet: which wallet, on which chain, what it signs, and how far that is.

import { byId, dressAvatar, fill, fillList } from "./dom.js";
import { findWallets } from "./wallets.js";
import { Wallet, WalletProblem } from "./wallet.js";

export class WalletPayment {
  /** @param {(text: string) => void} say shows what the wallet asks */
  constructor(api, strings, say) {
    this.api = api;
    this.strings = strings;
    this.say = say;
    byId("wallet-close").addEventListener("click", () => byId("wallet-dialog").close());
  }

  /**
   * Have a quote paid.
   * @param {(sent: {chainId: number, hash: string|null, payer: string}) => void} onSent called once money is on its
   *   way, and again if its hash is known only later
   * @returns {Promise<{wallet: Wallet, account: string, hasReference: boolean}>} who paid, and whether the payment
   *   names its order; one that does not has to be signed for
   */
  async pay(quote, onSent) {
    const { wallet, account: payer } = await this.connect();
    const chainHex = `0x${quote.chain_id.toString(16)}`;
    this.say(fill(this.strings.wallet_switch, { chain: quote.chain }));
    await wallet.goTo(chainHex);
    this.say(this.strings.wallet_prepare);
    let payment = await this.api.transactions(quote.quote_id, payer);
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
      this.#show(next, number, total);
      const hash = await wallet.send(payer, next);
      if (!rest.length) {
        report(hash);
        return paid();
      }
      this.say(this.strings.wallet_mining);
      await wallet.mined(hash);
      // What could not be tried out before the permission was there is tried now.
      const again = rest[0].gas === null;
      payment = again ? await this.api.transactions(quote.quote_id, payer) : { ...payment, transactions: rest };
    }
  }

  /** Ask the customer which wallet, and that wallet which account. */
  async connect(say = this.say) {
    const wallet = new Wallet(await this.#choose());
    say(this.strings.wallet_connect);
    return { wallet, account: await wallet.connect() };
  }

  async #sendAll(wallet, payer, payment, report) {
    this.say(this.strings.wallet_confirm_all);
    const batch = await wallet.sendAll(payer, payment.chain_hex, payment.transactions);
    report(null); // on its way from here on, whatever comes back
    report(await wallet.done(batch));
  }

  async #choose() {
    const wallets = await findWallets();
    if (!wallets.length) throw new WalletProblem("no_wallet");
    return wallets.length === 1 ? wallets[0].provider : this.#ask(wallets);
  }

  #ask(wallets) {
    const dialog = byId("wallet-dialog");
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new WalletProblem("none_chosen"));
      fillList(byId("wallets"), "wallet-row", wallets, (row, { name, provider }) => {
        dressAvatar(row.querySelector(".avatar"), { letter: name.charAt(0), hue: name.length % 12 });
        row.querySelector("button").addEventListener("click", () => {
          dialog.removeEventListener("close", refuse);
          dialog.close();
          resolve(provider);
        });
      });
      dialog.addEventListener("close", refuse, { once: true });
      dialog.showModal();
    });
  }

  #show({ label }, number, total) {
    const words = { n: String(number), total: String(total), label };
    this.say(total > 1 ? fill(this.strings.wallet_confirm_step, words) : this.strings.wallet_confirm);
  }
}
