// The life of a price: asked for, held for a minute, asked for again; a changed one waits for the customer's consent.

import { announce, byId, fill, focusOn } from "./dom.js";
import { Countdown, inSeconds } from "./countdown.js";
import * as view from "./quote_view.js";

const MAX_REFRESHES = 10;

export class Quoting {
  #choice = null;
  #quote = null;
  #last = null;
  #agreed = null;
  #asked = 0;
  #refreshes = 0;
  #isWaitingForPage = false;
  #countdown = new Countdown();

  /**
   * @param {import("./api.js").Api} api
   * @param {boolean} isSimulated whether the test wallet pays
   * @param {(problem: Error) => void} onProblem when no price could be had
   */
  constructor(api, strings, isSimulated, onProblem) {
    this.api = api;
    this.strings = strings;
    this.isSimulated = isSimulated;
    this.onProblem = onProblem;
    byId("accept").addEventListener("click", () => this.#accept());
    byId("refresh").addEventListener("click", () => this.renew());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#isWaitingForPage) this.#refresh();
    });
  }

  /** The quote that the customer has agreed to see on the button, or null. */
  get payable() {
    return this.#quote !== null && this.#quote === this.#agreed ? this.#quote : null;
  }

  /** The quote that was shown last, or null. */
  get last() {
    return this.#last;
  }

  /** Ask for the price of another token. */
  choose(choice) {
    this.#choice = choice;
    this.#quote = this.#agreed = null;
    this.#refreshes = 0;
    view.showChoice(choice);
    focusOn(byId("review-title"));
    announce(this.strings.loading_quote);
    return this.#ask();
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
    this.#quote = this.#agreed = null;
  }

  /** Hold the price still while a payment is being sent. */
  hold() {
    this.#countdown.stop();
  }

  /** Draw the pay button again, after sending failed. */
  offerAgain() {
    if (!this.#quote) return;
    this.#show(this.#quote);
    focusOn(byId("pay-button"));
  }

  /** Offer nothing until the customer has looked into the wallet. */
  pause() {
    this.#countdown.stop();
    view.hideActions();
  }

  #refresh() {
    this.#isWaitingForPage = document.hidden;
    if (this.#isWaitingForPage) return view.showPaused();
    this.#refreshes += 1;
    if (this.#refreshes <= MAX_REFRESHES) return this.#ask();
    view.showPaused();
    return announce(this.strings.quote_paused);
  }

  async #ask() {
    const asked = ++this.#asked;
    this.#countdown.stop();
    try {
      const quote = await this.api.quote(this.#choice.chainId, this.#choice.token);
      if (asked === this.#asked) this.#receive(quote);
    } catch (problem) {
      if (asked !== this.#asked) return;
      view.showLoading(false);
      view.hideActions();
      this.onProblem(problem);
    }
  }

  #receive(quote) {
    const before = this.#agreed;
    this.#quote = this.#last = quote;
    quote.until = inSeconds(quote.valid_for_s);
    if (before && before.pay_amount !== quote.pay_amount) return this.#askConsent(before, quote);
    const words = { amount: quote.pay_text, chain: quote.chain };
    announce(fill(before ? this.strings.quote_same : this.strings.quote_ready, words));
    this.#agreed = quote;
    return this.#show(quote);
  }

  #show(quote) {
    const hadFocus = ["refresh", "pay-button"].includes(document.activeElement?.id);
    view.showQuote(quote, this.strings);
    view.showPayButton(quote, this.strings, this.isSimulated);
    if (hadFocus) byId("pay-button").focus();
    this.#run(quote);
  }

  #askConsent(before, quote) {
    const hadFocus = ["refresh", "pay-button", "accept"].includes(document.activeElement?.id);
    view.showQuote(quote, this.strings);
    view.showChange(before, quote);
    announce(fill(this.strings.quote_changed, { old: before.pay_text, new: quote.pay_text }));
    if (hadFocus) byId("price-change").focus();
    this.#run(quote);
  }

  #accept() {
    this.#agreed = this.#quote;
    view.showPayButton(this.#quote, this.strings, this.isSimulated);
    announce(this.strings.quote_accepted);
    focusOn(byId("pay-button"));
  }

  #run(quote) {
    this.#countdown.start(quote.until, (left) => view.showHeld(left, this.strings), () => this.#refresh());
  }
}
