// Draws the quote, its countdown, and a price that has changed.

import { byId, dressAvatar, fill, fillList, fillSlots, toggle } from "./dom.js";

const LONG = 18;
const ALL = ["pay-button", "refresh", "held", "price-change"];

/** Show what was chosen while its price is on the way. */
export function showChoice(choice) {
  toggle(byId("choose"), false);
  toggle(byId("review"), true);
  dressAvatar(byId("quote-avatar"), choice);
  fillSlots(byId("review"), { pay_text: choice.symbol, chain_text: choice.chain });
  byId("quote-amount").classList.remove("long");
  showLoading(true);
  hideActions();
}

/** Show the list of tokens instead. */
export function showChooser() {
  toggle(byId("review"), false);
  toggle(byId("choose"), true);
}

export function showLoading(isLoading) {
  toggle(byId("quote-loading"), isLoading);
  if (isLoading) toggle(byId("quote-lines"), false);
}

/** Show amounts, route, time and fees. */
export function showQuote(quote, words) {
  const review = byId("review");
  showLoading(false);
  fillSlots(review, { ...quote, chain_text: quote.chain, most_text: quote.most_text ?? "", wallet_note: quote.wallet_note ?? "" });
  for (const line of review.querySelectorAll("[data-optional]")) toggle(line, Boolean(quote[line.dataset.optional]));
  byId("quote-amount").classList.toggle("long", quote.pay_text.length > LONG);
  fillList(slot("steps"), "route-row", quote.steps.map((text) => ({ text })));
  const fees = quote.fees.length ? quote.fees : [{ name: words.no_fees, note: "", text: "" }];
  fillList(slot("fees"), "fee-row", fees);
  toggle(byId("quote-lines"), true);
}

/** Offer to pay just this. */
export function showPayButton(quote, words, isSimulated) {
  hideActions();
  const button = byId("pay-button");
  toggle(button, true);
  toggle(byId("pay-spinner"), false);
  button.removeAttribute("aria-disabled");
  fillSlots(button, { pay_label: fill(isSimulated ? words.pay_test_button : words.pay_button, { amount: quote.pay_text }) });
  toggle(byId("held"), true);
}

/** Say that the payment is being sent. */
export function showPaying(words) {
  const button = byId("pay-button");
  button.setAttribute("aria-disabled", "true");
  fillSlots(button, { pay_label: words.paying });
  toggle(byId("pay-spinner"), true);
  toggle(byId("held"), false);
}

/** Ask for consent to another price. */
export function showChange(before, now) {
  hideActions();
  toggle(byId("price-change"), true);
  fillSlots(byId("price-change"), { old: before.pay_text, new: now.pay_text });
}

/** Say that prices are not refreshed any more. */
export function showPaused() {
  hideActions();
  toggle(byId("refresh"), true);
}

export function showHeld(left, words) {
  byId("held-text").textContent = fill(words.seconds_left, { n: String(left) });
  byId("held-bar").value = left;
}

export function hideActions() {
  for (const id of ALL) toggle(byId(id), false);
}

function slot(name) {
  return byId("review").querySelector(`[data-slot="${name}"]`);
}
