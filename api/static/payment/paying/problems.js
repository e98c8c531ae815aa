// Every failure as a sentence with a next step; nothing of what a wallet or a server wrote for machines.

import { Problem } from "../shared/api.js";
import { fill } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { WalletProblem } from "../wallets/wallet.js";

const OF_KIND = { network: "error_network", offline: "error_offline", busy: "error_busy", server: "error_server" };
const OF_REASON = {
  wallet_rejected: "error_wallet_rejected",
  payment_would_fail: "error_would_fail",
  no_route: "error_no_route",
  order_not_payable: "error_not_payable",
  order_not_waiting_for_payment: "error_gone",
  quote_expired: "pay_refused_quote",
};

export class Explaining {
  /** @param {() => object|null} quoteOf the quote that is shown */
  constructor(merchant, quoteOf) {
    this.merchant = merchant;
    this.quoteOf = quoteOf;
  }

  /** Say what went wrong and what to do. */
  explain(problem) {
    const { chain = "", coin = "" } = this.quoteOf() ?? {};
    return fill(strings[this.#nameOf(problem)] ?? problem.explanation, {
      chain, coin, merchant: this.merchant, seconds: String(problem.retryAfterS),
    });
  }

  #nameOf(problem) {
    if (problem.explanation) return null;
    if (problem instanceof WalletProblem) return `wallet_${problem.kind}`;
    if (!(problem instanceof Problem)) return "error_unknown";
    return OF_KIND[problem.kind] ?? OF_REASON[problem.reason] ?? "error_refused";
  }
}
