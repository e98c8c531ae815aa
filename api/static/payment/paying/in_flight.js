// One payment at a time: while a wallet is asked, nothing else here can be used, nor in another tab of this order.
// What is asked is written down before the wallet hears of it, so a tab that was closed meanwhile is not forgotten;
// where nothing can be kept, only this tab knows.

import { announce, byId, toggle } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { inStore } from "../shared/store.js";

const LIFE_MS = 20 * 60_000; // as long as contracts accept what a wallet signs
const RESTS = "[data-rests]";

export class InFlight {
  #me = crypto.getRandomValues(new Uint32Array(2)).join("-");
  #alive = null; // a lock that this tab holds until it is gone, so that others learn of that
  #isMine = false;
  #wasElsewhere = false;
  #expiry = 0;

  /** @param {() => void} onElsewhere called whenever another tab has begun or ended a payment */
  constructor(orderId, onElsewhere) {
    this.key = `checkout-paying:${orderId}`;
    this.onElsewhere = onElsewhere;
    window.addEventListener("storage", ({ key }) => { if (key === this.key || key === null) this.#notice(); });
    window.addEventListener("focus", () => this.#notice());
    for (const kind of ["click", "input", "change", "submit"]) {
      document.addEventListener(kind, refuseWhereInert, { capture: true });
    }
    byId("elsewhere-free").addEventListener("click", () => { this.#write(null); this.#notice(); byId("checkout").focus({ preventScroll: true }); });
    this.#notice();
  }

  /** Whether a wallet is asked now, from here. */
  get isHere() {
    return this.#isMine;
  }

  /** Whether a payment was begun in another tab, which has not said how it ended. */
  get isElsewhere() {
    const note = this.#note();
    return note !== null && note.tab !== this.#me;
  }

  /** Take the one place there is; false if it is taken. */
  async begin() {
    this.#alive ??= new Promise((go) => { this.#lock(this.#me, () => { go(); return new Promise(() => {}); }); });
    await this.#alive;
    const isTaken = await this.#lock(this.key, () => {
      if (this.#isMine || this.isElsewhere) return true;
      this.#isMine = true;
      this.#write({ tab: this.#me, until: Date.now() + LIFE_MS });
      return false;
    });
    this.#notice();
    if (!isTaken) this.#rest(true);
    return !isTaken;
  }

  /** Give the place back: the wallet has answered everything. */
  end() {
    if (!this.#isMine) return;
    this.#isMine = false;
    this.#write(null);
    this.#rest(this.isElsewhere);
    if (byId("in-flight")) toggle(byId("in-flight"), false); // the test wallet asks nothing
  }

  /** Say what the wallet asks, or what is waited for before it asks again. */
  say(text, isAsked = true) {
    byId("wallet-progress").textContent = text;
    const title = dress("in-flight", isAsked);
    toggle(byId("in-flight"), true);
    byId("in-flight").scrollIntoView({ block: "nearest" });
    announce(`${title}. ${text}`);
  }

  #notice() {
    const isElsewhere = this.isElsewhere;
    clearTimeout(this.#expiry);
    if (isElsewhere) this.#expiry = setTimeout(() => this.#notice(), this.#note().until - Date.now() + 1_000);
    if (isElsewhere === this.#wasElsewhere) return;
    this.#wasElsewhere = isElsewhere;
    toggle(byId("elsewhere"), isElsewhere);
    if (isElsewhere) this.#watch(this.#note().tab);
    this.#rest(isElsewhere || this.#isMine);
    if (!isElsewhere) announce(strings.elsewhere_over);
    this.onElsewhere();
  }

  /** Say that another tab pays; or, once it is gone, closed or loaded again, that its wallet may still be asking. */
  #watch(tab) {
    announce(dress("elsewhere", false));
    navigator.locks?.request(tab, () => { if (this.#note()?.tab === tab) announce(dress("elsewhere", true)); });
  }

  /** Let everything rest that could begin a payment or end the order; the way back to the shop stays where it may. */
  #rest(isResting) {
    for (const element of document.querySelectorAll(RESTS)) {
      element.inert = isResting && (this.#isMine || element.id !== "cancel");
    }
    const pay = byId("pay-button");
    if (isResting) pay.setAttribute("aria-disabled", "true");
    else pay.removeAttribute("aria-disabled");
  }

  #note() {
    const note = inStore((store) => JSON.parse(store.getItem(this.key)));
    return note && note.until > Date.now() ? note : null;
  }

  #write(note) {
    inStore((store) => (note ? store.setItem(this.key, JSON.stringify(note)) : store.removeItem(this.key)));
  }

  /** Do something without another tab in between, where the browser can. */
  #lock(name, use) {
    return navigator.locks ? navigator.locks.request(name, use) : use();
  }
}

/** Not even a script's click does anything where a mouse could do nothing. */
function refuseWhereInert(event) {
  if (!event.target.closest?.("[inert]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Show the parts of a notice for yes, or for no, and return the first one's text. */
function dress(id, isYes) {
  const parts = [...byId(id).querySelectorAll("[data-if]")];
  for (const part of parts) toggle(part, (part.dataset.if === "yes") === isYes);
  return parts.find((part) => !part.hidden).textContent;
}
