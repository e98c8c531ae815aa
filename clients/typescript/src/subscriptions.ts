// Webhook subscriptions and their deliveries; `verifyWebhook` checks what they receive.
import { listPages, type CallOptions, type PostOptions, type Send } from "./calls.js";
import { checkId } from "./checks.js";
import { writeMoment, type DeliveryFilter } from "./filters.js";
import type * as schema from "./schema.js";

const PATH = "/api/v1/webhook_subscription";

/** Webhook subscriptions and their deliveries. */
export class Webhooks {
  constructor(private readonly send: Send) {}

  /** Registers an address; keep the `secret` of the answer, which is shown this once. */
  async create(subscription: schema.NewSubscription, options?: PostOptions): Promise<schema.SecretSubscription> {
    return (await this.send({ method: "POST", path: PATH, kind: "Registered", body: subscription }, options)).data;
  }

  /** Reads all subscriptions of the key's environment, without their secrets. */
  async list(options?: CallOptions): Promise<schema.Subscription[]> {
    return (await this.send({ method: "GET", path: PATH, kind: "SubscriptionList" }, options)).data;
  }

  /** Reads a subscription, without its secret. */
  async get(webhookId: string, options?: CallOptions): Promise<schema.Subscription> {
    const path = `${PATH}/${checkId({ webhookId })}`;
    return (await this.send({ method: "GET", path, kind: "FoundSubscription" }, options)).data;
  }

  /** Changes the address or the types of events; what is not named stays, and so does the secret. */
  async change(
    webhookId: string,
    change: schema.SubscriptionChange,
    options?: CallOptions,
  ): Promise<schema.Subscription> {
    const path = `${PATH}/${checkId({ webhookId })}`;
    return (await this.send({ method: "PATCH", path, kind: "Changed", body: change }, options)).data;
  }

  /** Deletes a subscription; what was not delivered yet is given up. */
  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.send({ method: "DELETE", path: `${PATH}/${checkId({ webhookId })}`, kind: "Message" }, options);
  }

  /** Sends an event about an order that does not exist, and gives its id. */
  async sendTest(webhookId: string, sample: schema.SampleEvent = {}, options?: PostOptions): Promise<string> {
    return (await this.send(this.post(webhookId, "test", "SentTest", sample), options)).data.event_id;
  }

  /** Makes a new secret; for 24 hours deliveries are signed with both. */
  async rotateSecret(webhookId: string, options?: PostOptions): Promise<schema.SecretSubscription> {
    return (await this.send(this.post(webhookId, "rotate_secret", "Registered"), options)).data;
  }

  /** Sends new events to a subscription that was disabled; `missed_since` says since when it missed some. */
  enable(webhookId: string, options?: PostOptions): Promise<schema.Enabled> {
    return this.send(this.post(webhookId, "enable", "Enabled"), options);
  }

  /** Sends a page of the events since a moment that a subscription did not get; `next_cursor` is the next one's. */
  async redeliverMissed(
    webhookId: string,
    missed: { since: string | Date; limit?: number },
    options?: PostOptions,
  ): Promise<schema.RedeliveredPage> {
    const body = { ...missed, since: writeMoment(missed.since) };
    return (await this.send(this.post(webhookId, "redeliver_missed", "Redelivered", body), options)).data;
  }

  /**
   * What was sent to a subscription and what came of it, newest first; a page is asked for at a time. Of several filters,
   * what has all.
   */
  async *listDeliveries(
    webhookId: string,
    limit?: number,
    options?: CallOptions,
    filter: DeliveryFilter = {},
  ): AsyncGenerator<schema.Delivery, void, undefined> {
    const path = `${PATH}/${checkId({ webhookId })}/deliveries`;
    const ask = (cursor?: string) =>
      this.send({ method: "GET", path, kind: "DeliveryPage", query: { ...filter, limit, cursor } }, options);
    for await (const page of listPages(ask)) yield* page.data;
  }

  /** Sends an event to a subscription again, with the same id. */
  async redeliver(deliveryId: string, options?: PostOptions): Promise<schema.Delivery> {
    const path = `/api/v1/webhook_delivery/${checkId({ deliveryId })}/redeliver`;
    return (await this.send({ method: "POST", path, kind: "Redelivery" }, options)).data;
  }

  private post<K extends keyof schema.components["schemas"]>(webhookId: string, act: string, kind: K, body?: unknown) {
    return { method: "POST", path: `${PATH}/${checkId({ webhookId })}/${act}`, kind, body } as const;
  }
}
