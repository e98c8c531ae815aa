// Which network, which token.

import { announce, byId, dressAvatar, fill, fillList, toggle } from "./dom.js";

export class Chooser {
  #chains = [];
  #chain = null;
  #lastButton = null;

  /** @param {(choice: {chainId: number, token: string, symbol: string}) => void} onChoice */
  constructor(strings, onChoice) {
    this.strings = strings;
    this.onChoice = onChoice;
    byId("search").addEventListener("input", () => this.#showTokens(true));
  }

  /** Offer these chains, the first one open. */
  offer(chains) {
    this.#chains = chains;
    this.#chain = chains[0] ?? null;
    fillList(byId("chains"), "chain-row", chains, (row, chain) => {
      dressAvatar(row.querySelector(".avatar"), chain);
      const radio = row.querySelector("input");
      radio.value = String(chain.chain_id);
      radio.checked = chain === this.#chain;
      radio.addEventListener("change", () => this.#open(chain));
    });
    this.#showTokens(false);
  }

  /** Give the focus back to what was chosen last. */
  focus() {
    (this.#lastButton?.isConnected ? this.#lastButton : byId("choose-title")).focus();
  }

  #open(chain) {
    this.#chain = chain;
    this.#showTokens(true);
  }

  #showTokens(isNews) {
    const wanted = byId("search").value.trim().toLowerCase();
    const tokens = (this.#chain?.tokens ?? []).filter((token) => matches(token, wanted));
    fillList(byId("tokens"), "token-row", tokens, (row, token) => this.#dress(row, token));
    byId("tokens").scrollTop = 0;
    toggle(byId("tokens"), tokens.length > 0);
    toggle(byId("no-match"), tokens.length === 0);
    if (!isNews || !this.#chain) return;
    const words = { n: String(tokens.length), chain: this.#chain.name };
    announce(tokens.length ? fill(this.strings.tokens_shown, words) : byId("no-match").textContent);
  }

  #dress(row, token) {
    const button = row.querySelector("button");
    dressAvatar(row.querySelector(".avatar"), token);
    button.addEventListener("click", () => {
      this.#lastButton = button;
      this.onChoice({ ...token, chainId: this.#chain.chain_id, chain: this.#chain.name, token: token.address });
    });
  }
}

function matches(token, wanted) {
  return [token.symbol, token.name, token.address].some((text) => text.toLowerCase().includes(wanted));
}
