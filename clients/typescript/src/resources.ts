// The operations but for orders and webhooks.
import { listPages, type CallOptions, type Send } from "./calls.js";
import { checkId } from "./checks.js";
import { NoRoute } from "./errors.js";
import { writeMoment } from "./filters.js";
import type * as schema from "./schema.js";

const QUOTES = "/api/v1/quote";
const EVENTS = "/api/v1/events";

/** Routes between tokens, across chains. */
export class Routes {
  constructor(private readonly send: Send) {}

  /**
   * Finds the best route, by `inputAmount` or by the `outputAmount` that is to arrive. With `tokens: "once"` each step
   * has only the `key` of its tokens, and `tokens` of the answer has every token by its key. With `payer` and
   * `recipient` it has `legs`, with what the payer's wallet sends.
   *
   * Throws `NoRoute` with each protocol and why it can't serve.
   */
  find(query: schema.RouteQuery, options: CallOptions & { tokens?: "inline" | "once" } = {}): Promise<schema.Route> {
    const shape = { tokens: options.tokens };
    return this.send(
      { method: "POST", path: "/v1/routes", kind: "Route", body: query, query: shape, notFound: NoRoute },
      { signal: options.signal },
    );
  }

  /** Asks what became of the transaction of a leg, on its chain and over a bridge. */
  follow(
    query: { readonly chainId: number; readonly transactionHash: string },
    options?: CallOptions,
  ): Promise<schema.FollowedTransaction> {
    return this.send(
      { method: "GET", path: "/v1/routes/status", kind: "FollowedTransaction", query: { ...query } },
      options,
    );
  }
}

/** A question for a quote: give `fromAmount`, or `toAmount` for what must arrive. */
export interface QuoteQuery {
  readonly fromChain: number;
  readonly toChain: number;
  readonly fromToken: string;
  readonly toToken: string;
  readonly fromAmount?: bigint | undefined;
  readonly toAmount?: bigint | undefined;
  readonly slippageBps?: number | undefined;
  readonly order?: "cheapest" | "fastest" | "balanced" | undefined;
}

/** What a swap gives at the market rate. */
export class Quotes {
  constructor(private readonly send: Send) {}

  /** Asks for a quote, which holds for 60 seconds. Throws `NoRoute` with each protocol and why it can't serve. */
  get(query: QuoteQuery, options?: CallOptions): Promise<schema.Quote> {
    return this.send({ method: "GET", path: QUOTES, kind: "Quote", query: { ...query }, notFound: NoRoute }, options);
  }

  /** Reads a quote again. */
  read(quoteId: string, options?: CallOptions): Promise<schema.Quote> {
    return this.send({ method: "GET", path: `${QUOTES}/${checkId({ quoteId })}`, kind: "Quote" }, options);
  }

  /** Makes a quote again from the market that it was made on: the same figures, or something is wrong. */
  replay(quoteId: string, options?: CallOptions): Promise<schema.Quote> {
    return this.send({ method: "GET", path: `${QUOTES}/${checkId({ quoteId })}/replay`, kind: "Quote" }, options);
  }

  /** Reads a quote with all that it rests on, for `routing-engine replay`. */
  archive(quoteId: string, options?: CallOptions): Promise<schema.QuoteArchive> {
    return this.send({ method: "GET", path: `${QUOTES}/${checkId({ quoteId })}/archive`, kind: "QuoteArchive" }, options);
  }
}

/** Which tokens to list. */
export interface TokenFilter {
  readonly chainId?: number | undefined;
  /** Only tokens with this in their symbol or name, or with this address. */
  readonly search?: string | undefined;
  /** Tokens of one page; 250 by default. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Supported tokens and chains. */
export class Tokens {
  constructor(private readonly send: Send) {}

  /** The tokens; a page is asked for at a time. */
  async *list(filter: TokenFilter = {}, options?: CallOptions): AsyncGenerator<schema.Token, void, undefined> {
    const ask = (cursor?: string) => this.getPage({ ...filter, cursor }, options);
    for await (const page of listPages(ask, filter.cursor)) yield* page.tokens;
  }

  /** Reads one page of tokens, with the supported chains. */
  getPage(filter: TokenFilter = {}, options?: CallOptions): Promise<schema.TokenList> {
    return this.send({ method: "GET", path: "/v1/tokens", kind: "TokenList", query: { ...filter } }, options);
  }
}

/** Which events to list. */
export interface EventFilter {
  /** `next_cursor` of the page before, the id of an event, or a moment. */
  readonly since?: string | Date | undefined;
  /** Events of this type only. */
  readonly type?: schema.EventType | undefined;
  /** Events of this order only. */
  readonly payment_order_id?: string | undefined;
  /** Events of one page; 100 by default. */
  readonly limit?: number | undefined;
}

/** Events, for whoever compares what its webhooks received with what happened. */
export class Events {
  constructor(private readonly send: Send) {}

  /** Reads an event: what webhooks got. */
  get(eventId: string, options?: CallOptions): Promise<schema.ListedEvent> {
    return this.send({ method: "GET", path: `${EVENTS}/${checkId({ eventId })}`, kind: "ListedEvent" }, options);
  }

  /** The events of the key's environment, oldest first; a page is asked for at a time. */
  async *list(filter: EventFilter = {}, options?: CallOptions): AsyncGenerator<schema.ListedEvent, void, undefined> {
    const ask = (since?: string) => this.getPage({ ...filter, since }, options);
    for await (const page of listPages(ask, writeMoment(filter.since))) yield* page.data;
  }

  /** Reads one page of events; `next_cursor` is the next `since`, also once there are no more for now. */
  getPage(filter: EventFilter = {}, options?: CallOptions): Promise<schema.EventPage> {
    const query = { ...filter, since: writeMoment(filter.since) };
    return this.send({ method: "GET", path: EVENTS, kind: "EventPage", query }, options);
  }
}

/** The look of the payment page. */
export class Branding {
  constructor(private readonly send: Send) {}

  /** Reads what customers see of the vendor. */
  get(options?: CallOptions): Promise<schema.Brand> {
    return this.send({ method: "GET", path: "/api/v1/branding", kind: "Brand" }, options);
  }

  /** Changes what is named; empty text takes a choice back. */
  update(change: schema.BrandChange, options?: CallOptions): Promise<schema.Brand> {
    return this.send({ method: "PATCH", path: "/api/v1/branding", kind: "Brand", body: change }, options);
  }
}

/** The key that is calling. */
export class ApiKeys {
  constructor(private readonly send: Send) {}

  /** Reads what the key is for, what it may do and when it ends. */
  get(options?: CallOptions): Promise<schema.ApiKey> {
    return this.send({ method: "GET", path: "/api/v1/api_key", kind: "ApiKey" }, options);
  }
}
