// What this page's scripts say, and how numbers, plurals and dates are written in its language and region.

import { fill } from "./dom.js";

/** What scripts say, in the page's language: `api/assets/words.py` puts it before them. */
export const strings = pageWords;

/** What the server chose, such as `es-MX`; what it writes itself is in this locale too. */
export const locale = document.documentElement.dataset.locale;

const LATIN = { numberingSystem: "latn" }; // as wallets and explorers write, in every language
const plurals = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale, LATIN);
const TO_THE_MINUTE = { ...LATIN, year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
const moments = new Intl.DateTimeFormat(locale, TO_THE_MINUTE);
const exactMoments = new Intl.DateTimeFormat(locale, { ...TO_THE_MINUTE, hour: moments.resolvedOptions().hour, second: "2-digit" });

/** Fill in a text that has a form for each plural category; `n` is the number it is about. */
export function fillCount(forms, n, values = {}) {
  return fill(forms[plurals.select(n)] ?? forms.other, { n: numbers.format(n), ...values });
}

/** Write a moment to the minute or the second, in the customer's own time zone. */
export function formatMoment(moment, isExact = false) {
  return (isExact ? exactMoments : moments).format(new Date(moment));
}
