// Which requests are sent again, and when.

/** How often and how patiently requests are sent again. */
export interface Retries {
  /** Retries after the first attempt; 0 for none. Default: 3. */
  readonly most: number;
  /** The first wait is at most so many seconds, each further one at most twice that. Default: 0.5. */
  readonly firstS: number;
  /** No wait is longer, but for what `Retry-After` asks. Default: 8. */
  readonly longestS: number;
  /** The longest `Retry-After` that is waited for; beyond it the error comes at once. Default: 60. */
  readonly patienceS: number;
}

export const RETRIES: Retries = { most: 3, firstS: 0.5, longestS: 8, patienceS: 60 };

/** What came of an attempt: an answer's status and `Retry-After`, or nothing. */
export interface Outcome {
  readonly status?: number;
  readonly retryAfterS?: number | undefined;
}

/** In how many seconds to send a request again, after `attempt` attempts; undefined if it is not to be. */
export function chooseWait(
  retries: Retries,
  attempt: number,
  method: string,
  hasKey: boolean,
  outcome: Outcome,
): number | undefined {
  const asked = outcome.retryAfterS;
  if (attempt > retries.most || !mayRepeat(method, hasKey, outcome)) return undefined;
  if (asked !== undefined && asked > retries.patienceS) return undefined;
  const ceiling = Math.min(retries.longestS, retries.firstS * 2 ** (attempt - 1));
  // Spread, or all clients of a service that was away come back at the same moment.
  return (asked ?? 0) + ceiling * (0.5 + Math.random() / 2);
}

function mayRepeat(method: string, hasKey: boolean, { status, retryAfterS }: Outcome): boolean {
  if (method === "POST" && !hasKey) return false;
  // No answer, also none to a proxy: something may have been done. A DELETE would find nothing the second time.
  if (status === undefined || status === 502 || status === 504) return hasKey || method === "GET" || method === "PATCH";
  // It passes by itself: an earlier attempt is still being carried out, or what is to be refunded is not final yet.
  if (status === 409) return hasKey && retryAfterS !== undefined;
  return status === 429 || status === 503;
}

/** The seconds that a `Retry-After` asks for, as a number or as a date. */
export function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}
