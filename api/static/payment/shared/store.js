// What the browser keeps for the page. It may be forbidden to; then nothing is kept, and what was written reads as null.

/** Use what is kept for all tabs, or what is kept for this one alone. */
export function inStore(use, kind = "localStorage") {
  try {
    return use(window[kind]);
  } catch {
    return null; // forbidden, or written by an older page
  }
}
