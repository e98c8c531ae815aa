// One wallet, asked by EIP-1193: accounts, chains, transactions one by one, or all in one where it can (EIP-5792).

import { kindOf } from "./wallet_errors.js";

const RECEIPT_EVERY_MS = 1_500;
const BATCH_VERSION = "2.0.0";
const BATCH_DONE = 200;
const ATOMIC = ["supported", "ready"];
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const WORD = /^0x[0-9a-f]{1,64}$/i;
const BALANCE_OF = "0x70a08231"; // balanceOf(address)
const SENDS = ["eth_sendTransaction", "wallet_sendCalls"];

/** What a wallet refused: `kind` says what the customer can do about it, as `wallet_…` of the strings. */
export class WalletProblem extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}

export class Wallet {
  constructor(provider) {
    this.provider = provider;
  }

  /** The accounts that this page is allowed to see, the one in use first; its user is asked nothing. */
  async accounts() {
    const told = await this.#ask("eth_accounts");
    return (Array.isArray(told) ? told : []).filter((each) => ADDRESS.test(each)).map((each) => each.toLowerCase());
  }

  /** Ask which account pays. */
  async connect() {
    const [account] = (await this.#ask("eth_requestAccounts")) ?? [];
    if (!ADDRESS.test(account)) throw new WalletProblem("no_account");
    return account.toLowerCase();
  }

  /** Let its user choose another account for this page, where the wallet can (EIP-2255). */
  async permit() {
    try {
      await this.#ask("wallet_requestPermissions", [{ eth_accounts: {} }]);
    } catch (problem) {
      if (problem.kind !== "unsupported") throw problem;
    }
  }

  /**
   * Make sure that the wallet is on a chain; it may ask its user.
   * @param {object|null} facts what to offer to a wallet that does not know the chain (EIP-3085)
   * @param {() => void} onUnknown called before it is offered
   */
  async goTo(chainHex, facts = null, onUnknown = () => {}) {
    if (await this.#isOn(chainHex)) return;
    try {
      await this.#ask("wallet_switchEthereumChain", [{ chainId: chainHex }]);
    } catch (problem) {
      if (problem.kind !== "unknown_chain" || !facts) throw problem;
      onUnknown();
      await this.#ask("wallet_addEthereumChain", [facts]);
      if (await this.#isOn(chainHex)) return;
      await this.#ask("wallet_switchEthereumChain", [{ chainId: chainHex }]);
    }
    if (!await this.#isOn(chainHex)) throw new WalletProblem("wrong_chain");
  }

  /** The number of the chain that it is on. */
  async chainId() {
    return Number(await this.#ask("eth_chainId"));
  }

  /** What an account has of a token, or without one of the chain's coin, on the chain that it is on. */
  async balance(account, token = null) {
    const told = token
      ? await this.#ask("eth_call", [{ to: token, data: BALANCE_OF + account.slice(2).padStart(64, "0") }, "latest"])
      : await this.#ask("eth_getBalance", [account, "latest"]);
    return WORD.test(told) ? BigInt(told) : null;
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

  /** Have typed data signed (EIP-712); wallets sign for the chain only that they are on. */
  async sign(account, typedData) {
    const { chainId } = typedData.domain ?? {};
    if (chainId !== undefined) await this.goTo(`0x${Number(chainId).toString(16)}`);
    try {
      return await this.#ask("eth_signTypedData_v4", [account, JSON.stringify(typedData)]);
    } catch (problem) {
      throw new WalletProblem(problem.kind === "rejected" ? "claim_declined" : "sign_failed");
    }
  }

  async #isOn(chainHex) {
    return await this.chainId() === Number(chainHex);
  }

  async #ask(method, params = []) {
    try {
      return await this.provider.request({ method, params });
    } catch (error) {
      // What went wrong after a wallet was told to send may have gone wrong after it has sent.
      throw new WalletProblem(kindOf(error) ?? (SENDS.includes(method) ? "failed" : "trouble"));
    }
  }
}

function pause() {
  return new Promise((resolve) => { setTimeout(resolve, RECEIPT_EVERY_MS); });
}
