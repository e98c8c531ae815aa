// Client of the crosschain-checkout service; begin with `CheckoutClient`, or `verifyWebhook` for what webhooks receive.
export { stringify } from "./amounts.js";
export { CheckoutClient, type ClientOptions } from "./client.js";
export type { CallOptions, PostOptions } from "./calls.js";
export * from "./errors.js";
export type { DeliveryFilter, OrderFilter, PageChoice, RefundFilter, TransferFilter } from "./filters.js";
export type { EventFilter, QuoteQuery, TokenFilter } from "./resources.js";
export type { Retries } from "./retries.js";
export type * from "./schema.js";
export { verifyWebhook, type GivenHeaders, type ReceivedEvent, type VerifyOptions } from "./webhooks.js";
