// Checks that a delivery is from the service: Standard Webhooks 1.0.0.
import { decode } from "./amounts.js";
import { WebhookRefused, WebhookUnreadable } from "./errors.js";
import type { Event, WebhookBody } from "./schema.js";

/** Of a secret, in bytes: with an empty one anybody could sign. */
const LEAST_BYTES = 16;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** An event that is from the service. */
export interface ReceivedEvent {
  /** The same in every delivery of the event. Deliveries may come more than once: handle each id once. */
  readonly id: string;
  readonly event: Event;
}

/** Headers as `fetch` has them, or as node has them. */
export type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old a delivery may be, or how far in the future. Default: 300. */
  readonly toleranceS?: number;
  /** Default: the machine's clock. */
  readonly now?: Date;
}

/**
 * The event of a delivery, once its signature and its age are right.
 *
 * `body` is the request's body as it came, to the byte: not parsed and written again. `secrets` is `whsec_…` as the
 * service showed it, several while one is being replaced. Throws `WebhookRefused` if the delivery is not from the
 * service, too old, or damaged, and `WebhookUnreadable` if it is from the service but of a kind unknown here.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: GivenHeaders,
  secrets: string | readonly string[],
  { toleranceS = 300, now = new Date() }: VerifyOptions = {},
): Promise<ReceivedEvent> {
  const keys = await Promise.all([secrets].flat().map(readSecret));
  if (keys.length === 0) throw new TypeError("secrets is empty: give the subscription's secret, whsec_…");
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body is the request's body as it came, a string or bytes: take the raw one, not a parsed one");
  }
  if (typeof headers !== "object" || headers === null) throw new TypeError("headers is the request's headers");
  const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const given = ["id", "timestamp", "signature"].map((name) => readHeader(headers, `webhook-${name}`));
  const [id, sent, signatures] = given;
  if (!id || !sent || !signatures) {
    throw new WebhookRefused("A header is missing: webhook-id, webhook-timestamp or webhook-signature");
  }
  if (!(await isSigned(joinBytes(new TextEncoder().encode(`${id}.${sent}.`), content), keys, signatures))) {
    throw new WebhookRefused("No signature is right: is this the secret of this subscription, and the body untouched?");
  }
  checkAge(sent, now, toleranceS);
  return { id, event: readEvent(content) };
}

async function readSecret(secret: string | undefined): Promise<CryptoKey> {
  if (typeof secret !== "string") {
    throw new TypeError(`secrets: ${String(secret)} is no secret of a webhook, whsec_…: is the setting there?`);
  }
  const key = readBase64(secret.trim().replace(/^whsec_/, ""));
  if (key === undefined || key.length < LEAST_BYTES) {
    throw new TypeError("This is no webhook's secret; it begins with whsec_ and was shown when the webhook was made");
  }
  return globalThis.crypto.subtle.importKey("raw", key, HMAC, false, ["verify"]);
}

/** `subtle.verify` compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  keys: readonly CryptoKey[],
  signatures: string,
): Promise<boolean> {
  const given = signatures.split(" ").filter((each) => each.startsWith("v1,"));
  const read = given.map((each) => readBase64(each.slice(3))).filter((each) => each !== undefined);
  const checks = keys.flatMap((key) => read.map((each) => globalThis.crypto.subtle.verify(HMAC, key, each, signed)));
  return (await Promise.all(checks)).includes(true);
}

function checkAge(sent: string, now: Date, toleranceS: number): void {
  if (!/^[0-9]{1,12}$/.test(sent)) throw new WebhookRefused("webhook-timestamp is no number of seconds");
  const ageS = now.getTime() / 1000 - Number(sent);
  // Written so that a clock or a tolerance that is no number refuses.
  if (!(Math.abs(ageS) <= toleranceS)) {
    throw new WebhookRefused(`It was sent ${ageS.toFixed(0)} s ago, beyond ${toleranceS} s: is the clock right?`);
  }
}

function readEvent(content: Uint8Array): Event {
  try {
    const body = decode("WebhookBody", JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content)));
    const { event } = body as Partial<WebhookBody>;
    if (typeof event?.type !== "string" || typeof event.data !== "object") throw new TypeError("it has no event");
    return event;
  } catch (cause) {
    throw new WebhookUnreadable(`It is from the service, but can't be read: ${String(cause)}`, { cause });
  }
}

function readHeader(headers: GivenHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joinBytes(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
