// What callers give, checked before anything is sent: each error names the parameter and the remedy, and no secret.

/** The address of a service, without the slashes and the path of the interface that may end it. Throws a `TypeError` if it is none. */
export function checkAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !["http:", "https:"].includes(new URL(baseUrl).protocol)) {
    throw new TypeError(`baseUrl: ${show(baseUrl)} is no address of a service, such as https://pay.example`);
  }
  return baseUrl.replace(/\/+(api\/v1\/*)?$/, "");
}

/**
 * An API key without the white space around it, such as the end of the file's line that it was read from.
 *
 * Throws a `TypeError` if it is missing, empty, or can't go into a header; or if a live key would travel unencrypted.
 */
export function checkApiKey(apiKey: string | undefined, baseUrl: string): string {
  const key = apiKey?.trim();
  if (!key) throw new TypeError("apiKey is empty: is the setting there? Leave it out where no key is needed");
  if (!/^[!-~]+$/.test(key)) {
    throw new TypeError("apiKey has characters that no API key has: was it copied whole, and alone?");
  }
  const { protocol, hostname } = new URL(baseUrl);
  if (key.startsWith("sk_live_") && protocol === "http:" && !isLoopback(hostname)) {
    throw new TypeError("baseUrl: a live key is sent over https only; use the service's https address");
  }
  return key;
}

/** `URL` has written an IPv4 address in four parts and an IPv6 address in brackets, as short as it can be. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(hostname);
}

/** A key that a header can carry. Throws a `TypeError` if it is none. */
export function checkIdempotencyKey(given: string): string {
  if (typeof given !== "string" || !/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(given)) {
    throw new TypeError(
      `idempotencyKey is ${show(given)}: give 1 to 255 characters of ASCII without spaces around them, ` +
        "such as the cart's id, or leave it out",
    );
  }
  return given;
}

/** The one id that is given, under its parameter's name. Throws a `TypeError` if it would lead to another address. */
export function checkId(ids: Readonly<Record<string, string>>): string {
  const [[name, given] = ["id", ""]] = Object.entries(ids);
  if (typeof given !== "string" || !/^[A-Za-z0-9_-]{1,255}$/.test(given)) {
    throw new TypeError(`${name}: ${show(given)} is no id; give one as the service has named it, such as po_…`);
  }
  return given;
}

/** What was given instead, but no API key that is at the wrong place. */
function show(given: unknown): string {
  const text = typeof given === "string" ? JSON.stringify(given) : String(given);
  return text.replace(/(sk_(?:test|live)_)[^\s"]*/g, "$1…").slice(0, 100);
}
