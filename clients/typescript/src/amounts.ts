// Amounts between JSON, where they are digits, and bigint.
import { UnexpectedAnswer } from "./errors.js";
import { SHAPES } from "./shapes.js";

const DIGITS = /^[0-9]{1,78}$/;

/** The answer with bigints in the places of its amounts; `shape` names its schema. Nothing else changes. */
export function decode(shape: string, value: unknown): unknown {
  const properties = SHAPES[shape];
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => decode(shape, each));
  const given = value as Record<string, unknown>;
  const decoded = { ...given };
  for (const [name, kind] of Object.entries(properties)) {
    const source = kind.startsWith("=") ? kind.slice(1) : name;
    if (given[source] === undefined || given[source] === null) continue;
    decoded[name] = kind === "" || kind.startsWith("=") ? readAmount(source, given[source]) : decode(kind, given[name]);
  }
  return decoded;
}

function readAmount(name: string, value: unknown): bigint {
  if (typeof value !== "string" || !DIGITS.test(value)) throw new UnexpectedAnswer(`${name} is no amount`);
  return BigInt(value);
}

/** `JSON.stringify` for what this client gives: amounts are bigints, which it refuses, and become their digits. */
export function stringify(value: unknown, space?: string | number): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? each.toString() : each), space);
}

/** A body as JSON, its bigints as digits. Throws a TypeError for a whole number that has lost digits already. */
export function encode(body: unknown): string {
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new TypeError(`${name}: ${value} is beyond 2^53 and has lost digits; give a bigint, such as 10n ** 18n`);
    }
    return typeof value === "bigint" ? value.toString() : value;
  });
}
