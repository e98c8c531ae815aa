// Where there is no wallet in this browser: the page opens in a wallet's own browser or on another device, and this one
// follows along.

import { announce, byId, focusOn, toggle } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { findWallets } from "./wallets.js";

export class Devices {
  /**
   * @param {boolean} needsWallet whether this order is paid from a wallet
   * @param {() => void} onToggle called when the ways are unfolded or folded
   * @param {() => void} onMove called when they become the only ways to pay, or are so no more
   */
  constructor(needsWallet, onToggle, onMove) {
    this.onMove = onMove;
    this.box = byId("devices");
    this.box.addEventListener("toggle", onToggle);
    byId("copy-link").addEventListener("click", () => this.#copy());
    byId("page-address").addEventListener("focus", ({ target }) => target.select());
    if (needsWallet) this.#look();
  }

  /** Whether somebody may be paying elsewhere while this page is watched. */
  get isOpen() {
    return this.box.open;
  }

  /** What to press where nothing can be signed here; empty where a wallet is. */
  get label() {
    return this.box.parentElement.id === "devices-first" ? this.box.querySelector("h2").innerText : "";
  }

  /** Show the ways first, since there is no wallet in this browser. */
  offerFirst() {
    byId("devices-first").append(this.box);
    toggle(byId("no-wallet"), true);
    this.box.open = true;
    this.onMove();
  }

  /** Lead to them who would pay without a wallet. */
  offerAgain() {
    this.offerFirst();
    focusOn(this.box.querySelector("summary"));
    this.box.scrollIntoView();
  }

  async #look() {
    if ((await findWallets()).length) return;
    this.offerFirst();
    announce(byId("no-wallet").textContent);
    for (const event of ["eip6963:announceProvider", "ethereum#initialized"]) {
      window.addEventListener(event, () => this.#retreat(), { once: true });
    }
  }

  /** A wallet came late: its button is the way. */
  #retreat() {
    toggle(byId("no-wallet"), false);
    this.box.open = false;
    byId("devices-last").append(this.box);
    this.onMove();
  }

  async #copy() {
    const address = byId("page-address");
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(address.value);
    } catch {
      address.focus();
      address.select();
      isCopied = document.execCommand("copy");
    }
    const text = isCopied ? strings.link_copied : strings.link_selected;
    byId("copy-said").textContent = text;
    toggle(byId("copy-said"), true);
    announce(text);
  }
}
