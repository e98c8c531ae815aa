// The way through the checkout: its steps in the browser's history, and what was chosen last, for a reload,
// which suggests again where nothing can be kept.

import { inStore } from "../shared/store.js";

const TAB = "sessionStorage";

/**
 * Note a step, so that the browser's own Back leads to the one before it.
 * @param {"choose"|"review"} name
 * @returns {boolean} whether it was just before, and the browser goes back to it
 */
export function takeStep(name, { isFirst = false } = {}) {
  const { step: here = name, from = null } = history.state ?? {};
  if (isFirst) history.replaceState({ step: name }, "");
  else if (from === name) history.back();
  else if (here !== name) history.pushState({ step: name, from: here }, "");
  return !isFirst && from === name;
}

/** Remember what was chosen for an order, for as long as this tab is open. */
export function noteChoice(order, choice) {
  inStore((store) => store.setItem(choiceKey(order), JSON.stringify(choice)), TAB);
}

/** What was chosen for an order, or null. */
export function recallChoice(order) {
  return inStore((store) => JSON.parse(store.getItem(choiceKey(order))), TAB);
}

const choiceKey = (order) => `checkout-choice:${order}`;
