// Transfers that count for no order.
import { checkId, listPages, type CallOptions, type PostOptions, type Send } from "./calls.js";
import type * as schema from "./schema.js";

const PATH = "/api/v1/unmatched_transfer";

/** Transfers that reached the merchant and count for no order. */
export class UnmatchedTransfers {
  constructor(private readonly send: Send) {}

  /** All of them; a page is asked for at a time. */
  async *list(limit?: number, options?: CallOptions): AsyncGenerator<schema.UnmatchedTransfer, void, undefined> {
    const ask = (cursor?: string) =>
      this.send({ method: "GET", path: PATH, kind: "UnmatchedTransferList", query: { limit, cursor } }, options);
    for await (const page of listPages(ask)) yield* page.data;
  }

  /** Lets a transfer count for an order. */
  assign(transferId: string, assignment: schema.Assignment, options?: PostOptions): Promise<schema.PaymentOrder> {
    const path = `${PATH}/${checkId(transferId)}/assign`;
    return this.send({ method: "POST", path, kind: "PaymentOrder", body: assignment }, options);
  }
}
