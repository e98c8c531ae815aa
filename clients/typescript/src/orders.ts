// Payment links, orders, refunds, and transfers that belong to none.
import { listPages, type CallOptions, type PostOptions, type Send } from "./calls.js";
import { checkId } from "./checks.js";
import { writeFilter, type OrderFilter, type PageChoice, type RefundFilter, type TransferFilter } from "./filters.js";
import type * as schema from "./schema.js";
import { splitLines, type Stream } from "./streams.js";

const ORDERS = "/api/v1/payment";
const REFUNDS = "/api/v1/refund";
const TRANSFERS = "/api/v1/unmatched_transfer";

/** Ask a customer for money. */
export class PaymentLinks {
  constructor(private readonly send: Send) {}

  /**
   * Makes an order and the address of the page where the customer pays it.
   *
   * Give an `idempotencyKey` of your own, such as the cart's id, and the same cart never has two orders, even if your
   * program ends in between.
   */
  create(link: schema.NewPaymentLink, options?: PostOptions): Promise<schema.PaymentLink> {
    return this.send({ method: "POST", path: "/api/v1/payment_link", kind: "PaymentLink", body: link }, options);
  }
}

/** Payment orders and their refunds. */
export class Orders {
  constructor(
    private readonly send: Send,
    private readonly stream: Stream,
  ) {}

  /** Reads an order. */
  get(orderId: string, options?: CallOptions): Promise<schema.PaymentOrder> {
    return this.send({ method: "GET", path: `${ORDERS}/${checkId({ orderId })}`, kind: "PaymentOrder" }, options);
  }

  /** The orders of the key's environment, newest first; a page is asked for at a time. Of several filters, those that have all. */
  async *list(
    filter: OrderFilter & PageChoice = {},
    options?: CallOptions,
  ): AsyncGenerator<schema.PaymentOrder, void, undefined> {
    const ask = (cursor?: string) => this.getPage({ ...filter, cursor }, options);
    for await (const page of listPages(ask, filter.cursor)) yield* page.data;
  }

  /** Reads one page of orders, with the cursor of the next. */
  getPage(filter: OrderFilter & PageChoice = {}, options?: CallOptions): Promise<schema.OrderList> {
    return this.send({ method: "GET", path: ORDERS, kind: "OrderList", query: writeFilter(filter) }, options);
  }

  /**
   * The orders of a list as the lines of a CSV file, the header first, as they come. Each line keeps its end.
   *
   * The service makes one file at a time, so read it to its end, or leave the loop. Throws `ConnectionFailed` also where
   * the file ends too early: then what came of it is not all.
   */
  export(filter: OrderFilter = {}, options?: CallOptions): AsyncGenerator<string, void, undefined> {
    return splitLines(this.stream({ method: "GET", path: `${ORDERS}.csv`, query: writeFilter(filter), accept: "text/csv" }, options));
  }

  /** Puts other metadata in the place of an order's, all of it; no event tells of it. */
  change(orderId: string, change: schema.OrderChange, options?: CallOptions): Promise<schema.PaymentOrder> {
    const path = `${ORDERS}/${checkId({ orderId })}`;
    return this.send({ method: "PATCH", path, kind: "PaymentOrder", body: change }, options);
  }

  /** Takes back an order that has not been paid in full. */
  cancel(orderId: string, options?: PostOptions): Promise<schema.PaymentOrder> {
    return this.act(orderId, "cancel", undefined, options);
  }

  /**
   * Sends some or all of what came for an order back.
   *
   * Two calls are two refunds: each has an idempotency key of its own unless you give both the same one. Give one, such
   * as your own number of the refund, wherever a call may come twice.
   *
   * `refunds` of the order has each `transaction` that your own wallet has to sign. Where nobody can know whether it was
   * carried out, the error has the `idempotencyKey` to try it again with.
   */
  refund(orderId: string, refund: schema.NewRefund = {}, options?: PostOptions): Promise<schema.PaymentOrder> {
    return this.act(orderId, "refund", refund, options);
  }

  /** Cancels a refund that your wallet has not sent: its money is left to be asked for again. */
  cancelRefund(orderId: string, refundId: string, options?: PostOptions): Promise<schema.PaymentOrder> {
    return this.act(orderId, "cancel_refund", { refund: refundId }, options);
  }

  /** Lets something happen to a test order. */
  simulate(orderId: string, action: schema.Simulate, options?: PostOptions): Promise<schema.PaymentOrder> {
    return this.act(orderId, "simulate", action, options);
  }

  private act(orderId: string, act: string, body: unknown, options?: PostOptions): Promise<schema.PaymentOrder> {
    const path = `${ORDERS}/${checkId({ orderId })}/${act}`;
    return this.send({ method: "POST", path, kind: "PaymentOrder", body }, options);
  }
}

/** Refunds of all orders; `orders.refund` makes one. */
export class Refunds {
  constructor(private readonly send: Send) {}

  /**
   * The refunds of the key's environment, newest first; a page is asked for at a time. Of several filters, those that
   * have all: `requested` ones with `created_to` an hour ago are those that your wallet has not sent for an hour.
   */
  async *list(
    filter: RefundFilter & PageChoice = {},
    options?: CallOptions,
  ): AsyncGenerator<schema.ListedRefund, void, undefined> {
    const ask = (cursor?: string) => this.getPage({ ...filter, cursor }, options);
    for await (const page of listPages(ask, filter.cursor)) yield* page.data;
  }

  /** Reads one page of refunds, with the cursor of the next. */
  getPage(filter: RefundFilter & PageChoice = {}, options?: CallOptions): Promise<schema.RefundList> {
    return this.send({ method: "GET", path: REFUNDS, kind: "RefundList", query: writeFilter(filter) }, options);
  }
}

/** What reached the vendor: all of it as a file, and what counts for no order, such as a payment from an exchange. */
export class Transfers {
  constructor(
    private readonly send: Send,
    private readonly stream: Stream,
  ) {}

  /**
   * Every payment, refund and unmatched transfer as the lines of a CSV file, the header first, oldest first: those that
   * moved from `moved_from` on and before `moved_to`. Each line keeps its end.
   *
   * The service makes one file at a time, so read it to its end, or leave the loop. Throws `ConnectionFailed` also where
   * the file ends too early: then what came of it is not all.
   */
  export(filter: TransferFilter = {}, options?: CallOptions): AsyncGenerator<string, void, undefined> {
    const query = writeFilter(filter);
    return splitLines(this.stream({ method: "GET", path: "/api/v1/transfer.csv", query, accept: "text/csv" }, options));
  }

  /** The transfers of the key's environment, newest first; a page is asked for at a time. */
  async *list(
    choice: PageChoice = {},
    options?: CallOptions,
  ): AsyncGenerator<schema.UnmatchedTransfer, void, undefined> {
    const ask = (cursor?: string) => this.getPage({ ...choice, cursor }, options);
    for await (const page of listPages(ask, choice.cursor)) yield* page.data;
  }

  /** Reads one page of transfers, with the cursor of the next. */
  getPage(choice: PageChoice = {}, options?: CallOptions): Promise<schema.UnmatchedTransferList> {
    return this.send({ method: "GET", path: TRANSFERS, kind: "UnmatchedTransferList", query: { ...choice } }, options);
  }

  /**
   * Gives a transfer to an order of any status; the answer is the order, for which it counts within seconds.
   *
   * A closed order is credited, and the money can be sent back with a refund that has `to`.
   */
  assign(transferId: string, assignment: schema.Assignment, options?: PostOptions): Promise<schema.PaymentOrder> {
    const path = `${TRANSFERS}/${checkId({ transferId })}/assign`;
    return this.send({ method: "POST", path, kind: "PaymentOrder", body: assignment }, options);
  }
}
