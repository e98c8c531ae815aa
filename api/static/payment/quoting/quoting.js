// The life of a price: asked for, held for a minute, asked for again; a higher one waits for the customer's consent.

import { refusalOf } from "../shared/api.js";
import { announce, byId, fill, focusOn } from "../shared/dom.js";
import { Countdown, inSeconds } from "../shared/countdown.js";
import { strings } from "../shared/language.js";
import {
  hideActions, showChange, showChoice, showHeld, showLoading, showPaused, showPayButton, showQuote, showShortage,
} from "./quote_view.js";

const MAX_REFRESHES = 10;

export class Quoting {
  #choice = null;
  #quote = null;
  #last = null;
  #agreed = null;
  #asked = 0;
  #refreshes = 0;
  #isWaitingForPage = false;
  #isHeld = false;
  #countdown = new Countdown();

  /**
   * @param {import("./api.js").Api} api
   * @param {(amount: string) => string} labelOf what the button says
   * @param {(problem: Error) => void} onProblem when no price could be had
   */
  constructor(api, labelOf, onProblem) {
    this.api = api;
    this.labelOf = labelOf;
    this.onProblem = onProblem;
    byId("accept").addEventListener("click", () => this.#accept());
    byId("refresh").addEventListener("click", () => this.renew());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#isWaitingForPage) this.#refresh();
    });
  }

  /** The quote that the customer has agreed to see on the button, or null. */
  get payable() {
    return this.#choice?.is_payable && this.#quote !== null && this.#quote === this.#agreed ? this.#quote : null;
  }

  /** The quote that was shown last, or null. */
  get last() {
    return this.#last;
  }

  /** What the customer pays with, or null. */
  get choice() {
    return this.#choice;
  }

  /** Ask for the price of another token, or take the answer that is there already; quietly where nobody has asked for it. */
  choose(choice, { isQuiet = false, held = null } = {}) {
    this.#choice = choice;
    this.#quote = this.#agreed = null;
    this.#refreshes = 0;
    showChoice(choice);
    if (!isQuiet) {
      focusOn(byId("review-title"));
      announce(strings.loading_quote);
    }
    return this.#ask(held);
  }

  /** Take news of what the wallet holds of the chosen token. */
  judge(choice) {
    this.#choice = choice;
    this.relabel();
  }

  /** Write on the button who pays. */
  relabel() {
    if (this.#quote && this.#quote === this.#agreed && !byId("review").hidden && !this.#isHeld) this.#show(this.#quote);
  }

  /** Ask again at the customer's wish. */
  renew() {
    this.#refreshes = 0;
    return this.#ask();
  }

  /** Drop the price: another token, or another state of the order. */
  stop() {
    this.#asked += 1;
    this.#isWaitingForPage = false;
    this.#countdown.stop();
    this.#choice = this.#quote = this.#agreed = null;
    this.#isHeld = false;
  }

  /** Hold the price still while a payment is being sent. */
  hold() {
    this.#asked += 1; // a price that is on its way changes nothing any more
    this.#isHeld = true;
    this.#countdown.stop();
  }

  /** Draw the pay button again, after sending failed. */
  offerAgain() {
    this.#isHeld = false;
    if (!this.#quote) return;
    this.#show(this.#quote);
    focusOn(byId(this.#choice.is_payable ? "pay-button" : "shortage"));
  }

  /** Offer nothing until the customer has looked into the wallet. */
  pause() {
    this.#countdown.stop();
    hideActions();
  }

  #refresh() {
    this.#isWaitingForPage = document.hidden;
    if (this.#isWaitingForPage) return showPaused();
    this.#refreshes += 1;
    if (this.#refreshes <= MAX_REFRESHES) return this.#ask();
    showPaused();
    return announce(strings.quote_paused);
  }

  async #ask(held = null) {
    if (!this.#choice) return;
    const asked = ++this.#asked;
    this.#isHeld = false;
    this.#countdown.stop();
    try {
      if (held?.refused) throw refusalOf(held.refused);
      const quote = held ?? await this.api.quote(this.#choice.chain_id, this.#choice.address);
      if (asked === this.#asked) this.#receive(quote);
    } catch (problem) {
      if (asked !== this.#asked) return;
      showLoading(false);
      hideActions();
      this.onProblem(problem);
    }
  }

  #receive(quote) {
    const before = this.#agreed;
    this.#quote = this.#last = quote;
    quote.until = inSeconds(quote.valid_for_s);
    quote.ends = inSeconds(quote.ends_in_s);
    // What was agreed to is what was shown, which was rounded up.
    if (before && BigInt(quote.pay_amount) > BigInt(before.shown_amount)) return this.#askConsent(before, quote);
    announce(this.#tell(before, quote));
    this.#agreed = quote;
    return this.#show(quote);
  }

  #tell(before, quote) {
    const words = { amount: quote.pay_text, chain: quote.chain, old: before?.pay_text, new: quote.pay_text };
    if (!before) return fill(strings.quote_ready, words);
    return fill(before.pay_text === quote.pay_text ? strings.quote_same : strings.quote_lower, words);
  }

  #show(quote) {
    const hadFocus = ["refresh", "pay-button"].includes(document.activeElement?.id);
    showQuote(quote);
    this.#offer(quote);
    if (hadFocus) byId("pay-button").focus();
    this.#run(quote);
  }

  #askConsent(before, quote) {
    const hadFocus = ["refresh", "pay-button", "accept"].includes(document.activeElement?.id);
    showQuote(quote);
    showChange(before, quote);
    announce(fill(strings.quote_changed, { old: before.pay_text, new: quote.pay_text }));
    if (hadFocus) byId("price-change").focus();
    this.#run(quote);
  }

  #accept() {
    this.#agreed = this.#quote;
    this.#offer(this.#quote);
    announce(strings.quote_accepted);
    focusOn(byId("pay-button"));
  }

  /** Offer to pay, or say what the wallet lacks. */
  #offer(quote) {
    if (this.#choice.is_payable) showPayButton(quote, this.labelOf(keepTogether(quote.pay_text)));
    else showShortage(this.#choice.explanation);
  }

  #run(quote) {
    this.#countdown.start(quote.until, (left) => showHeld(left, quote), () => this.#refresh());
  }
}

/** An amount and its currency stay on one line, unless none has room for both. */
function keepTogether(text) {
  return text.length < 25 ? text.replaceAll(" ", "\u00a0") : text;
}
