// The ways to pay that suit the wallet: asked of the server, and of the wallet itself where no endpoint has answered.

const AGAIN_MS = 2_500;
const UNSEEN_MS = 30_000; // a chain on which payments can't be seen comes back by itself
const MOST_AGAIN = 2;

export class Options {
  #asked = 0;
  #timer = 0;

  /** @param {(found: object) => void} onFound called with what is known, and again when more is, then with true */
  constructor(api, onFound) {
    this.api = api;
    this.onFound = onFound;
  }

  /** Read them for a wallet, or for nobody, and hold the best one's price if wanted; what was asked before counts no more. */
  async read(connected, holdsBest) {
    this.stop();
    const asked = this.#asked;
    const account = connected ? { account: connected.account } : {};
    const best = holdsBest ? { holdsBest } : {};
    let found = await this.api.options({ ...account, ...best });
    const held = connected && found.unread.length ? await heldBy(connected, found) : [];
    if (held.length) found = await this.api.options({ ...account, ...best, held });
    if (asked !== this.#asked) return;
    this.onFound(found);
    if (found.note) this.#timer = setTimeout(() => this.read(connected).catch(() => {}), UNSEEN_MS);
    else if (found.unread.length && connected) this.#lookAgain(account, held, asked, 1);
  }

  stop() {
    this.#asked += 1;
    clearTimeout(this.#timer);
  }

  /** A slow chain may have answered meanwhile. */
  #lookAgain(account, held, asked, number) {
    this.#timer = setTimeout(async () => {
      const found = await this.api.options({ ...account, ...(held.length ? { held } : {}) }).catch(() => null);
      if (!found || asked !== this.#asked) return;
      this.onFound(found, true);
      if (found.unread.length && number < MOST_AGAIN) this.#lookAgain(account, held, asked, number + 1);
    }, AGAIN_MS);
  }
}

/** What the wallet says that it holds on the chain that it is on, if nobody else has read that one. */
async function heldBy({ wallet, account }, { options, unread }) {
  try {
    const chainId = await wallet.chainId();
    if (!unread.some((chain) => chain.chain_id === chainId)) return [];
    const tokens = options.filter((each) => each.chain_id === chainId && !each.is_coin).map(({ address }) => address);
    const { coin } = unread.find((chain) => chain.chain_id === chainId);
    const asked = [
      wallet.balance(account).then((amount) => ({ token: coin, amount })),
      ...tokens.map((token) => wallet.balance(account, token).then((amount) => ({ token, amount }))),
    ];
    const told = (await Promise.allSettled(asked)).flatMap(({ value }) => (value && value.amount !== null ? [value] : []));
    return told.map(({ token, amount }) => ({ chainId, token, amount: String(amount) }));
  } catch {
    return []; // it is not connected to anything either
  }
}
