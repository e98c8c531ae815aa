// Sends requests, again where that is safe, and reads their answers.
import { decode, encode } from "./amounts.js";
import { checkIdempotencyKey } from "./checks.js";
import { type CheckoutError, chooseError, ConnectionFailed, type NotFound, UnexpectedAnswer } from "./errors.js";
import { chooseWait, readRetryAfter, type Retries } from "./retries.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** What every operation takes beside its own. */
export interface CallOptions {
  /** Ends the call, also while it waits for a retry. */
  readonly signal?: AbortSignal | undefined;
}

/** What every POST takes beside its own. */
export interface PostOptions extends CallOptions {
  /** A new one by default, which stays the same over the retries of this call. */
  readonly idempotencyKey?: string | undefined;
}

/** What is asked, whatever the answer is. */
export interface Question {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | bigint | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly notFound?: typeof NotFound;
  /** Content type of its answer; JSON by default. */
  readonly accept?: string;
}

/** One call of an operation; `kind` names the schema of its answer. */
export interface Call<K extends keyof Schemas> extends Question {
  readonly kind: K;
}

/** Sends a call and gives its answer. */
export type Send = <K extends keyof Schemas>(call: Call<K>, options?: PostOptions) => Promise<Schemas[K]>;

/** Where and how calls are sent. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly retries: Retries;
  readonly fetch: typeof globalThis.fetch;
}

/** What came of one attempt: an answer that was read, or one whose text is still to come. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly pieces?: AsyncGenerator<string, void, undefined>;
}

/** Asks once. Throws only if the caller ended it. */
export type TryOnce = (url: string, request: RequestInit) => Promise<Received | ConnectionFailed>;

/** Sends calls to a target. */
export function makeSend(target: Target): Send {
  return async (call, options = {}) => {
    const key = call.method === "POST" ? chooseKey(options.idempotencyKey) : undefined;
    const ask: TryOnce = (url, request) => tryOnce(target, url, request, options.signal);
    return readAnswer(call, await askPatiently(target, call, ask, options.signal, key), key);
  };
}

function chooseKey(own: string | undefined): string {
  return own === undefined ? globalThis.crypto.randomUUID() : checkIdempotencyKey(own);
}

/** An answer to a question, which is asked again where that is safe. Throws `ConnectionFailed` if there is none. */
export async function askPatiently(
  target: Target,
  question: Question,
  ask: TryOnce,
  signal?: AbortSignal,
  key?: string,
): Promise<Received> {
  const url = nameAddress(target.baseUrl, question);
  const request = describeRequest(target, question, key);
  for (let attempt = 1; ; attempt += 1) {
    const received = await ask(url, request);
    const isAnswer = !(received instanceof ConnectionFailed);
    const retryAfterS = isAnswer ? readRetryAfter(received.headers.get("Retry-After")) : undefined;
    const outcome = isAnswer ? { status: received.status, retryAfterS } : {};
    const waitS = chooseWait(target.retries, attempt, question.method, key !== undefined, outcome);
    if (waitS === undefined) {
      if (isAnswer) return received;
      throw new ConnectionFailed(received.message, { idempotencyKey: key, cause: received.cause });
    }
    await sleep(waitS, signal);
  }
}

function nameAddress(baseUrl: string, call: Question): string {
  const given = Object.entries(call.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : value instanceof Array ? value.map((each) => [name, each]) : [[name, String(value)]],
  );
  const query = new URLSearchParams(given);
  return `${baseUrl}${call.path}${given.length > 0 ? `?${query}` : ""}`;
}

function describeRequest(target: Target, call: Question, key: string | undefined): RequestInit {
  const headers: Record<string, string> = { Accept: call.accept ?? "application/json" };
  if (target.apiKey !== undefined) headers["X-Api-Key"] = target.apiKey;
  if (key !== undefined) headers["Idempotency-Key"] = key;
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  const body = call.body === undefined ? {} : { body: encode(call.body) };
  // A redirect is not followed: the key would travel to wherever it leads.
  return { method: call.method, headers, redirect: "manual", ...body };
}

/** What came of one attempt. Throws only if the caller ended it. */
async function tryOnce(
  target: Target,
  url: string,
  request: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Received | ConnectionFailed> {
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(target.timeoutMs);
  const { fetch } = target; // called as a function: browsers refuse it as somebody's method
  try {
    const response = await fetch(url, { ...request, signal: signal ? AbortSignal.any([signal, limit]) : limit });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    return new ConnectionFailed(`${target.baseUrl} does not answer: ${String(cause)}`, { cause });
  }
}

function readAnswer<K extends keyof Schemas>(call: Call<K>, received: Received, key: string | undefined): Schemas[K] {
  if (received.status < 200 || received.status >= 300) throw readRefusal(call, received, key);
  return readBody(call.kind, received, key) as Schemas[K];
}

/** The error that an answer is. */
export function readRefusal(question: Question, received: Received, key?: string): CheckoutError {
  const { message, error } = readBody("Error", received, key) as Partial<Schemas["Error"]>;
  const known = describeAnswer(received, key);
  if (typeof message !== "string" || !Array.isArray(error)) return refuseToRead("it is no error of the service", known);
  const kind = received.status === 404 ? (question.notFound ?? chooseError(404)) : chooseError(received.status);
  return new kind(message, { ...known, problems: error });
}

function readBody(kind: string, received: Received, key: string | undefined): object {
  const known = describeAnswer(received, key);
  let body: unknown;
  try {
    body = decode(kind, JSON.parse(received.text));
  } catch (cause) {
    throw refuseToRead(cause, known);
  }
  if (typeof body !== "object" || body === null) throw refuseToRead("it is no object", known);
  return body;
}

function describeAnswer(received: Received, key: string | undefined) {
  return {
    status: received.status,
    requestId: received.headers.get("X-Request-Id") ?? undefined,
    retryAfterS: readRetryAfter(received.headers.get("Retry-After")),
    idempotencyKey: key,
  };
}

function refuseToRead(cause: unknown, known: ReturnType<typeof describeAnswer>): UnexpectedAnswer {
  return new UnexpectedAnswer(`The answer ${known.status} can't be read: ${String(cause)}`, { ...known, cause });
}

function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

interface Page {
  readonly next_cursor: string | null;
  readonly has_more?: boolean;
}

/** Every page from `cursor` on; each is asked for when it is needed. */
export async function* listPages<P extends Page>(
  ask: (cursor: string | undefined) => Promise<P>,
  cursor?: string,
): AsyncGenerator<P, void, undefined> {
  for (let start = cursor; ; ) {
    const page = await ask(start);
    yield page;
    // A cursor that leads nowhere new would go round for ever.
    if (page.next_cursor === null || page.next_cursor === start || page.has_more === false) return;
    start = page.next_cursor;
  }
}
