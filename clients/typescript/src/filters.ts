// Which orders to list or to export, and which refunds and deliveries to list, as the query has it.
import type * as schema from "./schema.js";

/** Which page, and of what size. */
export interface PageChoice {
  /** How many come with one request, 20 by default: a list goes on to the next page, so stop when there are enough. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** What an order has to have; of several, all. */
export interface OrderFilter {
  /** Its status, or several of which it has one. */
  readonly status?: schema.OrderStatus | readonly schema.OrderStatus[] | undefined;
  /** Why it stands there, or several reasons; empty text for orders without one. */
  readonly status_reason?: schema.StatusReason | readonly schema.StatusReason[] | undefined;
  /** The key's own environment without it. */
  readonly env_mode?: schema.EnvMode | undefined;
  /** Entries of its metadata, all of them; what is nested is not found. */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** Address whose money came for it, on any chain. */
  readonly payer?: string | undefined;
  /** Any transaction of it, on any chain: payment, deposit, delivery or refund. */
  readonly transaction_hash?: string | undefined;
  /** Made at this moment or after it; text needs a time zone. */
  readonly created_from?: string | Date | undefined;
  /** Made before. */
  readonly created_to?: string | Date | undefined;
  /** Its status changed last at this moment or after it. */
  readonly updated_from?: string | Date | undefined;
  /** Its status changed last before. */
  readonly updated_to?: string | Date | undefined;
}

/** What a refund has to have; of several, all. */
export interface RefundFilter {
  /** Where it stands, or several of which it has one. */
  readonly status?: schema.RefundStatus | readonly schema.RefundStatus[] | undefined;
  /** The key's own environment without it. */
  readonly env_mode?: schema.EnvMode | undefined;
  /** The order of which it is. */
  readonly payment_order_id?: string | undefined;
  /** Asked for at this moment or after it; text needs a time zone. */
  readonly created_from?: string | Date | undefined;
  /** Asked for before. */
  readonly created_to?: string | Date | undefined;
}

/** What a delivery has to have; of several, all. */
export interface DeliveryFilter {
  /** Where it stands, or several of which it has one. */
  readonly status?: schema.DeliveryStatus | readonly schema.DeliveryStatus[] | undefined;
  /** The event that it is of. */
  readonly event_id?: string | undefined;
  /** The order that its event is about. */
  readonly payment_order_id?: string | undefined;
}

/** When a transfer must have moved. */
export interface TransferFilter {
  /** Its block's time is this moment or later; text needs a time zone. */
  readonly moved_from?: string | Date | undefined;
  /** Its block's time is before. */
  readonly moved_to?: string | Date | undefined;
  /** The key's own environment without it. */
  readonly env_mode?: schema.EnvMode | undefined;
}

type Given = Omit<OrderFilter & RefundFilter, "status"> &
  TransferFilter &
  PageChoice & { readonly status?: string | readonly string[] | undefined };

/** A filter as the query has it: each entry of `metadata` under `metadata[key]`, as JSON writes it. */
export function writeFilter({ metadata = {}, ...filter }: Given) {
  const given = Object.entries(filter).map(([name, value]) => [name, value instanceof Date ? writeMoment(value) : value]);
  const entries = Object.entries(metadata).map(([key, value]) => [
    `metadata[${key}]`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries([...given, ...entries]) as Record<string, string | number | readonly string[] | undefined>;
}

/** A moment as the interface writes it. */
export function writeMoment(moment: string | Date | undefined): string | undefined {
  return moment instanceof Date ? moment.toISOString() : moment;
}
