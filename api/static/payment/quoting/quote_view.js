// Draws the quote, its countdown, and a price that has changed.

import { announce, byId, dressAvatar, fill, fillList, fillSlots, focusOn, toggle } from "../shared/dom.js";
import { clock, secondsUntil } from "../shared/countdown.js";
import { strings } from "../shared/language.js";
import { noteChange } from "../shared/taps.js";

const LAST_S = 600; // of an order, which are counted in sight
const ACTIONS = ["pay-bar", "prompts", "refresh", "held", "price-change", "shortage"];

/** Show what was chosen while its price is on the way. */
export function showChoice(choice) {
  showStep("review");
  dressAvatar(byId("quote-avatar"), choice);
  fillSlots(byId("review"), { pay_text: choice.pay_text ?? choice.symbol, chain_text: choice.chain });
  fit(byId("quote-amount"));
  showLoading(true);
  hideActions();
  byId("slow-ok").checked = false;
}

/** Show the list of tokens instead. */
export function showChooser() {
  showStep("choose");
}

function showStep(step) {
  if (byId(step).hidden) noteChange();
  for (const name of ["choose", "review"]) toggle(byId(name), name === step);
}

export function showLoading(isLoading) {
  toggle(byId("quote-loading"), isLoading);
  if (isLoading) toggle(byId("quote-lines"), false);
}

/** Show the amount and the one number; all else is folded. */
export function showQuote(quote) {
  const review = byId("review");
  showLoading(false);
  fillSlots(review, { ...quote, chain_text: quote.chain, time_line: fill(strings.takes, { time: quote.time_text }) });
  for (const line of review.querySelectorAll("[data-optional]")) toggle(line, quote[line.dataset.optional]?.length);
  fit(byId("quote-amount"));
  fillList(slot("fees"), "fee-row", quote.fees);
  byId("copy-exact").value = quote.exact_amount;
  byId("prompts").textContent = quote.prompts_text;
  toggle(byId("quote-lines"), true);
}

/** Offer to pay just this. */
export function showPayButton(quote, label) {
  hideActions();
  const button = byId("pay-button");
  toggle(byId("pay-bar"), true);
  toggle(byId("prompts"), quote.prompts_text);
  toggle(byId("pay-spinner"), false);
  button.removeAttribute("aria-disabled");
  fillSlots(button, { pay_label: label });
  toggle(byId("held"), true);
  // Much enlarged it would hide the rest.
  byId("pay-bar").classList.toggle("still", button.offsetHeight * 5 > window.innerHeight);
}

/** Say what the wallet lacks, instead of letting it fail. */
export function showShortage(text) {
  hideActions();
  byId("shortage").textContent = text;
  toggle(byId("shortage"), true);
}

/** Whether the customer has said that a slow payment may be slow, or it is none; else lead there. */
export function isAgreed() {
  const box = byId("slow-ok");
  if (box.parentElement.hidden || box.checked) return true;
  focusOn(box);
  return false;
}

/** Say that the payment is being sent, or what it waits for. */
export function showPaying(label) {
  const button = byId("pay-button");
  button.setAttribute("aria-disabled", "true");
  fillSlots(button, { pay_label: label });
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

export function showHeld(left, { ends_text: text, ends: end }) {
  const seconds = secondsUntil(end);
  byId("ends").textContent = text && seconds <= LAST_S ? fill(text, { time: clock(seconds) }) : "";
  byId("held-text").textContent = fill(strings.seconds_left, { n: String(left) });
  byId("held-bar").value = left;
}

export function hideActions() {
  for (const id of ACTIONS) toggle(byId(id), false);
}

/** Let the exact amount be copied, where the browser can. */
export function offerCopy() {
  const button = byId("copy-exact");
  toggle(button, navigator.clipboard);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.value);
    announce(strings.copied);
  });
}

/** Let an amount's size follow from its length: it never breaks. */
function fit(element) {
  element.style.setProperty("--signs", String(element.textContent.length));
}

function slot(name) {
  return byId("review").querySelector(`[data-slot="${name}"]`);
}
