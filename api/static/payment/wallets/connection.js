// Which wallet pays, and with which account: found without a question where this page is allowed already.

import { byId, dressAvatar, fill, fillList } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { inStore } from "../shared/store.js";
import { Wallet, WalletProblem } from "./wallet.js";
import { findWallets } from "./wallets.js";

const SILENT_MS = 1_000; // a wallet that does not say by then whether it is connected is asked by a click
const REMEMBERED = "checkout-wallet";
const ISOLATE = ["\u2068", "\u2069"];

export class Connection {
  #current = null;
  #watched = new Set();

  /**
   * @param {() => void} onChange called when another wallet or account pays from now on
   * @param {(problem: Error) => void} onSwitch called before that, where it is another account of the same wallet
   */
  constructor(onChange, onSwitch) {
    this.onChange = onChange;
    this.onSwitch = onSwitch;
    byId("wallet-close").addEventListener("click", () => byId("wallet-dialog").close());
  }

  /** The wallet and the account that pay, or null. */
  get current() {
    return this.#current;
  }

  /** The wallet and the start and end of its account, for people; empty without one. */
  get label() {
    if (!this.#current) return "";
    const { name, account } = this.#current;
    const known = name ? ISOLATE.join(name.replace(/[\u2066-\u2069\u202a-\u202e]/g, "")) : strings.some_wallet;
    return fill(strings.wallet_label, { name: known, account: `${account.slice(0, 6)}…${account.slice(-4)}` });
  }

  /** Take the wallet that is connected already, if there is one; nobody is asked anything. */
  async restore() {
    const wallets = await findWallets();
    const asked = wallets.map(async (found) => ({ ...found, account: await accountOf(found.provider) }));
    const known = (await Promise.all(asked)).filter(({ account }) => account);
    const before = inStore((store) => store.getItem(REMEMBERED));
    const chosen = known.find(({ id }) => id === before) ?? known[0];
    if (chosen) this.#take(chosen, chosen.account);
  }

  /** Ask the customer which wallet, and that wallet which account; it pays from now on. */
  async connect(say) {
    const { found, account } = await this.#connect(say);
    this.#take(found, account);
    return this.#current;
  }

  /** Ask which wallet and which account, for something other than paying. */
  async ask(say) {
    const { wallet, account } = await this.#connect(say);
    return { wallet, account };
  }

  /** Make sure that the account that the page shows is the one that the wallet pays with. */
  async confirm(say) {
    if (!this.#current) return this.connect(say);
    const { wallet, account, found } = this.#current;
    const [now] = await wallet.accounts();
    if (now === account) return this.#current;
    if (!now) say(strings.wallet_connect);
    this.#take(found, now ?? await wallet.connect());
    if (this.#current.account !== account) throw new WalletProblem("other_account");
    return this.#current;
  }

  async #connect(say) {
    const found = await this.#choose();
    const wallet = new Wallet(found.provider);
    say(strings.wallet_connect);
    if (this.#current?.found.provider === found.provider) await wallet.permit();
    return { found, wallet, account: await wallet.connect() };
  }

  #take(found, account) {
    const isNews = this.#current?.account !== account || this.#current.found.provider !== found.provider;
    this.#current = { wallet: new Wallet(found.provider), account, name: found.name, found };
    inStore((store) => store.setItem(REMEMBERED, found.id));
    this.#watch(found);
    if (isNews) this.onChange();
  }

  /** Follow the account that its user chooses in the wallet. */
  #watch(found) {
    if (this.#watched.has(found.provider)) return;
    this.#watched.add(found.provider);
    found.provider.on?.("accountsChanged", (accounts) => {
      if (this.#current?.found.provider !== found.provider) return;
      const [account] = Array.isArray(accounts) ? accounts : [];
      if (typeof account === "string") {
        if (account.toLowerCase() !== this.#current.account) this.onSwitch(new WalletProblem("other_account"));
        this.#take(found, account.toLowerCase());
      }
      else {
        this.#current = null;
        this.onChange();
      }
    });
  }

  async #choose() {
    const wallets = await findWallets();
    if (!wallets.length) throw new WalletProblem("no_wallet");
    return wallets.length === 1 ? wallets[0] : this.#askWhich(wallets);
  }

  #askWhich(wallets) {
    const dialog = byId("wallet-dialog");
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new WalletProblem("none_chosen"));
      fillList(byId("wallets"), "wallet-row", wallets, (row, wallet) => {
        const { name, picture } = wallet;
        dressAvatar(row.querySelector(".avatar"), { picture, letter: name.charAt(0), hue: name.length % 12 });
        row.querySelector("button").onclick = () => {
          dialog.removeEventListener("close", refuse);
          dialog.close();
          resolve(wallet);
        };
      });
      dialog.addEventListener("close", refuse, { once: true });
      dialog.showModal();
    });
  }
}

async function accountOf(provider) {
  const silence = new Promise((resolve) => { setTimeout(() => resolve([]), SILENT_MS); });
  const [account] = await Promise.race([new Wallet(provider).accounts().catch(() => []), silence]);
  return account;
}
