// From the click on Pay until the wallet has answered everything; what it sent is never denied afterwards.

import { announce, byId } from "./dom.js";
import { showPaying } from "./quote_view.js";
import { WalletProblem } from "./wallet.js";

export class Paying {
  /**
   * @param {object} parts `api`, `strings`, `quoting`, `inFlight`, `walletPayment` (null where the test wallet pays),
   *   `claiming` likewise
   * @param {object} page what it does: `follow(text, quote, report)`, `showProblem`, `hideProblem`
   */
  constructor(parts, page) {
    Object.assign(this, parts);
    this.page = page;
    byId("pay-button").addEventListener("click", () => this.pay());
  }

  /** Pay the quote that the button shows, unless a payment is in flight already. */
  async pay() {
    const quote = this.quoting.payable;
    if (!quote || byId("pay-button").getAttribute("aria-disabled") || !await this.inFlight.begin()) return;
    this.page.hideProblem();
    this.quoting.hold();
    showPaying(this.strings);
    try {
      await (this.walletPayment ? this.#payFromWallet(quote) : this.#payFromTestWallet(quote));
    } catch (problem) {
      this.inFlight.end();
      this.#onFailed(problem, quote);
    } finally {
      this.inFlight.end();
    }
  }

  async #payFromTestWallet(quote) {
    announce(this.strings.paying);
    const state = await this.api.pay(quote.quote_id);
    this.page.follow(this.strings.sent_text, quote, null, state);
  }

  /** Once the wallet has sent something, no failure is told as if nothing had been. */
  async #payFromWallet(quote) {
    let sent = null;
    try {
      const paid = await this.walletPayment.pay(quote, (report) => {
        sent = report;
        this.page.follow(this.strings.sent_text, quote, report.hash ? report : null);
      });
      this.inFlight.end();
      if (paid.hasReference) return;
      await paid.wallet.mined(sent.hash);
      await this.claiming.proveOwn(sent, paid);
    } catch (problem) {
      if (!sent || problem.kind === "reverted") throw problem;
    }
  }

  #onFailed(problem, quote) {
    const { quoting, page } = this;
    if (problem instanceof WalletProblem && problem.kind === "failed") {
      quoting.pause();
      return page.showProblem(problem, () => quoting.renew(), { label: this.strings.wallet_not_sent });
    }
    if (problem.reason === "quote_expired") {
      announce(this.strings.pay_refused_quote);
      return quoting.renew();
    }
    const isAnswered = problem instanceof WalletProblem || ["refused", "busy"].includes(problem.kind);
    if (!isAnswered && !this.walletPayment) return page.follow(this.strings.error_pay_unknown, quote);
    quoting.offerAgain();
    return page.showProblem(problem, problem.kind === "busy" ? () => this.pay() : null, { takesFocus: false });
  }
}
