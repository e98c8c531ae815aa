// The client: where a service is, and its operations.
import { makeSend } from "./calls.js";
import { checkAddress, checkApiKey } from "./checks.js";
import { Orders, PaymentLinks, Refunds, Transfers } from "./orders.js";
import { ApiKeys, Branding, Events, Quotes, Routes, Tokens } from "./resources.js";
import { RETRIES, type Retries } from "./retries.js";
import { makeStream } from "./streams.js";
import { Webhooks } from "./subscriptions.js";

export interface ClientOptions {
  /** Where the service is, such as `https://pay.example`. */
  readonly baseUrl: string;
  /** `sk_test_…` or `sk_live_…`, on a server only. Routes, quotes and tokens work without one. White space around it is taken off. */
  readonly apiKey?: string;
  /** For one attempt as a whole. Default: 30,000. */
  readonly timeoutMs?: number;
  /** How often and how patiently requests are sent again. */
  readonly retries?: Partial<Retries>;
  /** Another way to reach the service, such as a proxy. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Asks a checkout service. */
export class CheckoutClient {
  readonly paymentLinks: PaymentLinks;
  readonly orders: Orders;
  readonly refunds: Refunds;
  readonly transfers: Transfers;
  readonly routes: Routes;
  readonly quotes: Quotes;
  readonly tokens: Tokens;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly branding: Branding;
  readonly apiKeys: ApiKeys;

  /**
   * Throws a `TypeError` if the address is none; if `apiKey` is there but undefined or empty, as of a setting that is
   * missing; or if it is a live key and the address plain http, but for this machine's own.
   */
  constructor(options: ClientOptions) {
    const { timeoutMs = 30_000, retries, fetch = globalThis.fetch } = options;
    const baseUrl = checkAddress(options.baseUrl);
    const apiKey = "apiKey" in options ? checkApiKey(options.apiKey, baseUrl) : undefined;
    const target = { baseUrl, apiKey, timeoutMs, fetch, retries: { ...RETRIES, ...retries } };
    const send = makeSend(target);
    this.paymentLinks = new PaymentLinks(send);
    this.orders = new Orders(send, makeStream(target));
    this.refunds = new Refunds(send);
    this.transfers = new Transfers(send, makeStream(target));
    this.routes = new Routes(send);
    this.quotes = new Quotes(send);
    this.tokens = new Tokens(send);
    this.webhooks = new Webhooks(send);
    this.events = new Events(send);
    this.branding = new Branding(send);
    this.apiKeys = new ApiKeys(send);
  }
}
