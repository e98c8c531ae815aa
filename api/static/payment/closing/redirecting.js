// Back to the merchant, to the address that the server gave, when the customer wants to or the seconds are over.

import { byId, fill, toggle } from "../shared/dom.js";
import { Countdown, inSeconds } from "../shared/countdown.js";
import { strings } from "../shared/language.js";

export class Redirecting {
  #countdown = new Countdown();

  constructor(merchant) {
    this.merchant = merchant;
    byId("stay").addEventListener("click", () => this.stay());
  }

  /** Count down and go, unless the customer stays. */
  start(url, seconds) {
    toggle(byId("redirecting"), true);
    this.#countdown.start(
      inSeconds(seconds),
      (left) => {
        byId("redirect-text").textContent = fill(strings.redirect, { merchant: this.merchant, seconds: String(left) });
      },
      () => go(url),
    );
  }

  /** Stop counting. */
  stop() {
    this.#countdown.stop();
    toggle(byId("redirecting"), false);
  }

  /** Stop counting, at the customer's wish. */
  stay() {
    this.stop();
    byId("return").focus();
  }
}

/** Leave for the merchant's page. */
export function go(url) {
  if (["http:", "https:"].includes(new URL(url).protocol)) window.location.assign(url);
}
