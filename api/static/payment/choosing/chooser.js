// All ways to pay in one list: those that suit the wallet first, then every other token; searched over all networks.

import { announce, byId, dressAvatar, fill, fillList, fillSlots, toggle } from "../shared/dom.js";
import { fillCount, strings } from "../shared/language.js";

const ALL = "";
const FAR = 1_000;

export class Chooser {
  #chains = [];
  #options = [];
  #network = ALL;
  #lastChoice = null;
  #isWhole = false; // the list of all tokens comes later than the first ways to pay
  #isAsked = false;

  /** @param {(choice: object) => void} onChoice called with what was chosen, an option or a token without a price */
  constructor(onChoice) {
    this.onChoice = onChoice;
    byId("search").addEventListener("input", () => this.show(true));
  }

  /** Offer the tokens of these chains. */
  offerChains(chains) {
    this.#chains = chains;
    const all = { chain_id: ALL, name: byId("chains").dataset.all };
    fillList(byId("chains"), "chain-row", chains.length > 1 ? [all, ...chains] : chains, (row, chain) => {
      const avatar = row.querySelector(".avatar");
      if (chain.letter) dressAvatar(avatar, chain);
      else avatar?.remove();
      const radio = row.querySelector("input");
      radio.value = String(chain.chain_id);
      radio.checked = chain.chain_id === this.#network || chains.length === 1;
      radio.onchange = () => { this.#network = chain.chain_id; this.show(true); };
    }, ({ chain_id: id }) => id);
    toggle(byId("networks"), chains.length > 1);
    byId("no-match").textContent = fill(byId("no-match").dataset.text, { chains: chains.map(({ name }) => name).join(", ") });
    this.#isWhole = true;
    this.show(this.#isAsked);
  }

  /** Offer these priced options before everything else; where nobody asked for them anew, what is in sight stays. */
  offerOptions(options, isAgain) {
    this.#options = options;
    this.show(false, isAgain);
  }

  /** Give the focus back to what was chosen last. */
  focus() {
    (findButton(this.#lastChoice && keyOf(this.#lastChoice)) ?? byId("choose-title")).focus();
  }

  /** Draw the list, while it is in sight. */
  show(isNews = false, staysInPlace = false) {
    if (byId("choose").hidden) return;
    const words = byId("search").value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    const isHere = ({ chain_id: chainId }) => words.length || this.#network === ALL || chainId === this.#network;
    const rows = this.#list().map((row) => ({ ...row, rank: rank(row, words) }))
      .filter((row) => isHere(row) && row.rank < FAR / 2)
      .sort((one, other) => one.rank - other.rank);
    const places = [...byId("tokens").children].map((row) => row.dataset.key);
    const placeOf = (row) => places.indexOf(keyOf(row)) + 1 || FAR;
    if (staysInPlace) rows.sort((one, other) => placeOf(one) - placeOf(other));
    const focused = document.activeElement?.parentElement?.dataset.key;
    fillList(byId("tokens"), "token-row", rows, (element, row) => this.#dress(element, row), keyOf);
    if (focused) findButton(focused)?.focus();
    toggle(byId("tokens"), rows.length);
    toggle(byId("no-match"), rows.length === 0 && this.#isWhole);
    this.#isAsked = isNews && !this.#isWhole; // it is answered once the list is there
    if (!isNews || this.#isAsked) return;
    byId("tokens").scrollTop = 0;
    announce(rows.length ? fillCount(strings.tokens_shown, rows.length) : byId("no-match").textContent);
  }

  #list() {
    const icons = new Map(this.#chains.map((chain) => [chain.chain_id, chain.icon]));
    const priced = new Set(this.#options.map(keyOf));
    const others = this.#chains.flatMap((chain) => chain.tokens
      .map((token) => ({ ...token, chain_id: chain.chain_id, chain: chain.name, is_payable: true }))
      .filter((token) => !priced.has(keyOf(token))));
    return [...this.#options, ...others].map((row) => ({ badge: icons.get(row.chain_id), ...row }));
  }

  #dress(element, row) {
    const button = element.querySelector("button");
    dressAvatar(element.querySelector(".avatar"), row);
    const detail = row.explanation || row.held_text || row.hint || row.name;
    fillSlots(element, { detail, pay_text: row.pay_text ?? "", price_text: row.price_text ?? "" });
    fillList(element.querySelector(".token-marks"), "mark", (row.marks ?? []).map((text) => ({ text })));
    button.classList.toggle("poor", !row.is_payable);
    button.onclick = () => {
      this.#lastChoice = row;
      this.onChoice(row);
    };
  }
}

/** What tells one way to pay from another. */
export function keyOf({ chain_id: chainId, address }) {
  return `${chainId}-${address}`;
}

function findButton(key) {
  return byId("tokens").querySelector(`[data-key="${key}"] > button`);
}

/** How far a token is from what is searched: what it is called weighs more than the network that it is on. */
function rank({ symbol, name, called, address, chain }, words) {
  const near = `${symbol} ${name} ${called}`.toLowerCase();
  const far = `${chain} ${address}`.toLowerCase();
  const farness = (word) => (symbol.toLowerCase() === word ? -1 : near.includes(word) ? 0 : far.includes(word) ? 1 : FAR);
  return words.reduce((sum, word) => sum + farness(word), 0);
}
