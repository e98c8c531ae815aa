// The way through the checkout: its steps in the browser's history, and what was chosen last, for a reload.

/**
 * Note a step, so that the browser's own Back leads to the one before it.
 * @param {"choose"|"review"} name
 * @returns {boolean} whether it was just before, and the browser goes back to it
 */
export function takeStep(name, { isFirst = false } = {}) {
  const { step: here = name, from = null } = window.history.state ?? {};
  if (isFirst) window.history.replaceState({ step: name }, "");
  else if (from === name) window.history.back();
  else if (here !== name) window.history.pushState({ step: name, from: here }, "");
  return !isFirst && from === name;
}

/** Remember what was chosen for an order, for as long as this tab is open. */
export function noteChoice(order, choice) {
  inTab((store) => store.setItem(choiceKey(order), JSON.stringify(choice)));
}

/** What was chosen for an order, or null. */
export function recallChoice(order) {
  try {
    return JSON.parse(inTab((store) => store.getItem(choiceKey(order))));
  } catch {
    return null; // written by an older page
  }
}

const choiceKey = (order) => `checkout-choice:${order}`;

function inTab(use) {
  try {
    return use(window.sessionStorage);
  } catch {
    return null; // storage may be forbidden; then a reload suggests again
  }
}
