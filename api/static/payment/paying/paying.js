// From the click on Pay until the wallet has answered everything; what it sent is never denied afterwards.

import { Problem } from "../shared/api.js";
import { announce, byId } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { isAgreed, showPaying } from "../quoting/quote_view.js";
import { WalletProblem } from "../wallets/wallet.js";

export class Paying {
  /**
   * @param {object} parts `api`, `quoting`, `inFlight`, `walletPayment` (null where the test wallet pays),
   *   `claiming` likewise, `devices`
   * @param {object} page what it does: `follow(quote, known)`, `showProblem`, `hideProblem`, `settle()`
   */
  constructor(parts, page) {
    Object.assign(this, parts);
    this.page = page;
    byId("pay-button").addEventListener("click", () => this.pay());
  }

  /** Pay the quote that the button shows, unless a payment is in flight already. */
  async pay() {
    const quote = this.quoting.payable;
    if (this.devices.label) return this.devices.offerAgain();
    if (quote && !isAgreed()) return;
    if (!quote || byId("pay-button").getAttribute("aria-disabled") || !await this.inFlight.begin()) return;
    this.page.hideProblem();
    this.quoting.hold();
    showPaying(this.walletPayment ? strings.wallet_waiting : strings.paying);
    try {
      await (this.walletPayment ? this.#payFromWallet(quote) : this.#payFromTestWallet(quote));
    } catch (problem) {
      this.inFlight.end();
      this.#onFailed(problem, quote);
    } finally {
      this.inFlight.end();
      this.page.settle();
    }
  }

  async #payFromTestWallet(quote) {
    if (!navigator.onLine) throw new Problem("offline");
    announce(strings.paying);
    const state = await this.api.pay(quote.quote_id);
    this.page.follow(quote, { state });
  }

  /** Once the wallet has sent something, no failure is told as if nothing had been. */
  async #payFromWallet(quote) {
    let sent = null;
    try {
      const paid = await this.walletPayment.pay(quote, (report) => {
        sent = report;
        this.page.follow(quote, { report: report.hash ? report : null });
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
      return page.showProblem(problem, () => quoting.renew(), { label: problem.label });
    }
    if (problem.reason === "quote_expired") {
      announce(problem.explanation);
      return quoting.renew();
    }
    const isAnswered = problem instanceof WalletProblem || ["refused", "busy", "offline"].includes(problem.kind);
    if (!isAnswered && !this.walletPayment) return page.follow(quote, { isUnsure: true });
    quoting.offerAgain();
    const again = problem.kind === "busy" ? () => this.pay() : null; // offline, nothing is paid alone later
    return page.showProblem(problem, again, { takesFocus: false });
  }
}
