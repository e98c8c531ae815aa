// One wallet, asked by EIP-1193: accounts, chains, transactions one by one, or all in one where it can (EIP-5792).

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;
const RECEIPT_EVERY_MS = 1_500;
const BATCH_VERSION = "2.0.0";
const BATCH_DONE = 200;
const ATOMIC = ["supported", "ready"];

/** What a wallet refused: `kind` says what the customer can do about it. */
export class WalletProblem extends Error {
  /** @param {"rejected"|"unknown_chain"|"wrong_chain"|"no_account"|"reverted"|"failed"} kind */
  constructor(kind, detail = "") {
    super(detail || kind);
    this.kind = kind;
    this.detail = detail;
  }
}

export class Wallet {
  constructor(provider) {
    this.provider = provider;
  }

  /** Ask which account pays. */
  async connect() {
    const [account] = (await this.#ask("eth_requestAccounts")) ?? [];
    if (typeof account !== "string") throw new WalletProblem("no_account");
    return account.toLowerCase();
  }

  /** Make sure that the wallet is on a chain; it may ask its user. */
  async goTo(chainHex) {
    if (await this.#isOn(chainHex)) return;
    try {
      await this.#ask("wallet_switchEthereumChain", [{ chainId: chainHex }]);
    } catch (problem) {
      if (problem.code === UNKNOWN_CHAIN) throw new WalletProblem("unknown_chain");
      throw problem;
    }
    if (!await this.#isOn(chainHex)) throw new WalletProblem("wrong_chain");
  }

  /** Whether it takes several calls as one, all or none. */
  async isAtomic(payer, chainHex) {
    try {
      const told = await this.#ask("wallet_getCapabilities", [payer, [chainHex]]);
      return ATOMIC.includes((told?.[chainHex] ?? told?.["0x0"])?.atomic?.status);
    } catch {
      return false; // most wallets do not know the question
    }
  }

  /** Send one transaction and return its hash. */
  send(payer, { to, value, data, gas }) {
    return this.#ask("eth_sendTransaction", [{ from: payer, to, value, data, ...(gas ? { gas } : {}) }]);
  }

  /** Wait until a transaction is in a block. */
  async mined(hash) {
    for (;;) {
      const receipt = await this.#ask("eth_getTransactionReceipt", [hash]);
      if (receipt?.status === "0x0") throw new WalletProblem("reverted");
      if (receipt) return;
      await pause();
    }
  }

  /** Send all calls as one, and return what the wallet calls them. */
  async sendAll(payer, chainHex, transactions) {
    const calls = transactions.map(({ to, value, data }) => ({ to, value, data }));
    const order = { version: BATCH_VERSION, chainId: chainHex, from: payer, atomicRequired: true, calls };
    const told = await this.#ask("wallet_sendCalls", [order]);
    return typeof told === "string" ? told : told.id;
  }

  /** Wait until calls are done, and return the hash of the transaction that paid. */
  async done(batch) {
    for (;;) {
      const { status, receipts } = await this.#ask("wallet_getCallsStatus", [batch]);
      if (status === BATCH_DONE && receipts?.length) return receipts.at(-1).transactionHash;
      if (status > BATCH_DONE) throw new WalletProblem("reverted");
      await pause();
    }
  }

  async #isOn(chainHex) {
    return Number(await this.#ask("eth_chainId")) === Number(chainHex);
  }

  async #ask(method, params = []) {
    try {
      return await this.provider.request({ method, params });
    } catch (problem) {
      if (problem?.code === REJECTED) throw new WalletProblem("rejected");
      const failed = new WalletProblem("failed", String(problem?.message ?? ""));
      failed.code = problem?.code;
      throw failed;
    }
  }
}

function pause() {
  return new Promise((resolve) => { setTimeout(resolve, RECEIPT_EVERY_MS); });
}
