// What can go wrong: all are `CheckoutError`.
import type { Problem } from "./schema.js";

/** Anything that this package throws on purpose, but for `TypeError` where it is called wrongly. */
export class CheckoutError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A delivery is not from the service, too old, or damaged: answer it with 400 and do nothing else. */
export class WebhookRefused extends CheckoutError {}

/** A delivery is from the service, but can't be read by this version: answer it with 200 and update the package. */
export class WebhookUnreadable extends CheckoutError {}

/** What is known of a request that did not succeed. */
export interface Circumstances {
  /** HTTP status; missing where no answer came. */
  readonly status?: number | undefined;
  /** The service's name for the request, for its operator. */
  readonly requestId?: string | undefined;
  /** In how many seconds it may be sent again, if the service said so. */
  readonly retryAfterS?: number | undefined;
  /** Of a POST: whoever can't know whether it was carried out sends the same request with the same key again. */
  readonly idempotencyKey?: string | undefined;
  /** What is wrong with which property. */
  readonly problems?: readonly Problem[] | undefined;
  readonly cause?: unknown;
}

/** A request that did not succeed. */
export class RequestFailed extends CheckoutError {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly idempotencyKey: string | undefined;
  readonly problems: readonly Problem[];

  constructor(message: string, known: Circumstances = {}) {
    super(message, known.cause === undefined ? undefined : { cause: known.cause });
    this.status = known.status;
    this.requestId = known.requestId;
    this.retryAfterS = known.retryAfterS;
    this.idempotencyKey = known.idempotencyKey;
    this.problems = known.problems ?? [];
  }
}

/** No answer came, after all retries. A POST may have been carried out all the same. */
export class ConnectionFailed extends RequestFailed {}

/** An answer that this client can't read, such as a proxy's page. A POST may have been carried out all the same. */
export class UnexpectedAnswer extends RequestFailed {}

/** The service refused the request; the message names every problem. */
export class Refused extends RequestFailed {
  constructor(message: string, known: Circumstances = {}) {
    const named = (known.problems ?? []).map((each) => `; ${[each.path, each.message].filter(Boolean).join(": ")}`);
    const request = known.requestId === undefined ? "" : ` (request ${known.requestId})`;
    super(`${known.status ?? ""}: ${message}${named.join("")}${request}`, known);
  }
}

/** 400: `problems` names what is wrong with which property. */
export class InvalidRequest extends Refused {}

/** 401: the key is missing, wrong, revoked or over. */
export class Unauthorized extends Refused {}

/** 403: the key is of the other environment, or lacks a scope. */
export class Forbidden extends Refused {}

/** 404: this vendor has no such thing in the key's environment. */
export class NotFound extends Refused {}

/** 404 of routes and quotes: nobody can carry it out; `problems` has each protocol and why. */
export class NoRoute extends NotFound {}

/** 409: the order's or the subscription's present state does not allow it. */
export class Conflict extends Refused {}

/** 422: the idempotency key was used for another request. */
export class KeyReused extends Refused {}

/** 429: over the rate limit, still after all retries. */
export class TooManyRequests extends Refused {}

/** 500 and above: the service can't answer. A POST may have been carried out if the status is not 503. */
export class ServiceFailed extends Refused {}

const BY_STATUS: Readonly<Record<number, typeof Refused>> = {
  400: InvalidRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  422: KeyReused,
  429: TooManyRequests,
};

/** The class of error for an HTTP status. */
export function chooseError(status: number): typeof Refused {
  return BY_STATUS[status] ?? (status >= 500 ? ServiceFailed : Refused);
}
