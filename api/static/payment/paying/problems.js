// Every failure as a sentence with a next step; nothing of what a wallet or a server wrote for machines.

import { Problem } from "../shared/api.js";
import { fill } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { WalletProblem } from "../wallets/wallet.js";

const OF_KIND = { network: "error_network", offline: "error_offline", busy: "error_busy", server: "error_server" };

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
    return OF_KIND[problem.kind] ?? "error_refused";
  }
}
