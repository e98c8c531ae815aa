// Back to the merchant, to the address that the server gave, when the customer wants to or the seconds are over.

import { byId, fill, toggle } from "../shared/dom.js";
import { Countdown, inSeconds } from "../shared/countdown.js";
import { strings } from "../shared/language.js";

const USES = ["pointerdown", "wheel", "keydown", "pagehide"]; // who does anything reads on; who comes back stays

export class Redirecting {
  #countdown = new Countdown();

  constructor(merchant) {
    this.merchant = merchant;
    byId("stay").addEventListener("click", () => { this.stop(); byId("return").focus(); });
    for (const kind of USES) window.addEventListener(kind, ({ target }) => { if (target.id !== "stay") this.stop(); });
  }

  /** Count down and go, unless the customer does anything here; returns what is said of it. */
  start(url, seconds) {
    const tell = (left) => fill(strings.redirect, { merchant: this.merchant, seconds: String(left) });
    toggle(byId("redirecting"), true);
    byId("redirecting").style.visibility = "visible";
    this.#countdown.start(inSeconds(seconds), (left) => { byId("redirect-text").textContent = tell(left); }, () => go(url));
    return tell(seconds);
  }

  /** Stop counting, and leave the place empty: a tap may be about to fall on what stands below. */
  stop() {
    this.#countdown.stop();
    byId("redirecting").style.visibility = "hidden";
  }
}

/** Leave for the merchant's page. */
export function go(url) {
  if (["http:", "https:"].includes(new URL(url).protocol)) window.location.assign(url);
}
