// The page's requests. What goes wrong becomes a Problem that says what kind it is.

import { locale } from "./language.js";

const TIMEOUT_MS = 20_000;

export class Problem extends Error {
  /** @param {"network"|"offline"|"busy"|"server"|"refused"} kind */
  constructor(kind, { reason = "", explanation = "", told = "", retryAfterS = 0 } = {}) {
    super(reason || kind);
    this.kind = kind;
    this.reason = reason; // in a word, for scripts
    this.explanation = explanation; // in a sentence, for customers
    this.told = told; // for developers
    this.retryAfterS = retryAfterS;
  }
}

export class Api {
  constructor(path) {
    this.path = path;
  }

  status(quoteId) { return this.#send("GET", quoteId ? `status?${new URLSearchParams({ quote: quoteId })}` : "status"); }
  tokens() { return this.#send("GET", "tokens", null, "no-cache"); }
  options(asked) { return this.#send("POST", "options", asked); }
  quote(chainId, token) { return this.#send("POST", "quote", { chainId, token }); }
  pay(quoteId) { return this.#send("POST", "pay", { quote_id: quoteId }); }
  transactions(quoteId, payer) { return this.#send("POST", "transactions", { quote_id: quoteId, payer }); }
  report({ chainId, hash }) { return this.#send("POST", "report", { chainId, hash }); }
  claims(asked) { return this.#send("GET", `claim?${new URLSearchParams(asked)}`); }
  claim(signed) { return this.#send("POST", "claim", signed); }
  simulate(action) { return this.#send("POST", "simulate", { action }); }

  async #send(method, name, body = null, cache = "no-store") {
    // Answers hold texts: in the language of this page, whatever another tab has chosen meanwhile.
    const headers = { "X-Page-Language": locale };
    const options = { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS), cache };
    if (body) {
      headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let response;
    let content;
    try {
      response = await fetch(`${this.path}/${name}`, options);
      content = await response.json();
    } catch {
      throw new Problem(response && response.status >= 500 ? "server" : "network");
    }
    if (response.ok) return content;
    throw problemOf(response, content);
  }
}

function problemOf(response, content) {
  const retryAfterS = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0;
  if (response.status === 429) return new Problem("busy", { retryAfterS: retryAfterS || 10 });
  if (response.status >= 500) return new Problem("server", { retryAfterS });
  return refusalOf(content);
}

/** What the server refuses, as it says it. */
export function refusalOf({ reason, explanation, message }) {
  return new Problem("refused", { reason, explanation, told: message });
}
