// Shows the part of the page that belongs to the order's state.

import { byId, fillList, fillSlots, toggle } from "../shared/dom.js";
import { showTab } from "../shared/tab.js";
import { noteChange } from "../shared/taps.js";

const PANELS = ["pay", "progress", "outcome"];
const TITLES = { progress: "progress-title", outcome: "outcome-title", pay: "choose-title" };

/** Draw a state; the page's own scripts bring what only they can do. */
export function showState(state) {
  if (byId(state.panel).hidden) noteChange();
  for (const name of PANELS) toggle(byId(name), name === state.panel);
  const panel = byId(state.panel);
  if (state.panel === "pay") showBanner(state);
  else {
    panel.dataset.tone = state.tone;
    fillSlots(panel, { title: state.title, text: state.text });
  }
  if (state.panel === "outcome") showOutcome(panel, state);
  showStranded(state.stranded);
  showTransactions(state.transactions);
  toggle(byId("left-out"), state.left_out_text);
  byId("left-out").textContent = state.left_out_text;
  toggle(byId("deadline"), state.panel === "pay" && !state.banner); // which says until when
  for (const line of document.querySelectorAll("[data-on-its-way]")) {
    toggle(line, state.on_its_way_text);
    line.textContent = state.on_its_way_text;
  }
  byId("summary-text").textContent = state.summary_text;
  showTab(state.tab_title, state.tab_icon);
  showContact(state, false);
}

/** Say how the merchant is reached, where something is wrong or takes too long. */
export function showContact({ contact, is_wrong: isWrong }, isLate) {
  toggle(byId("contact"), contact !== null && (isWrong || isLate));
}

/** What names a state, for the focus. */
export function titleOf(state) {
  return byId(state.banner ? "banner" : TITLES[state.panel]);
}

function showBanner({ banner }) {
  toggle(byId("banner"), banner !== null);
  if (banner) fillSlots(byId("banner"), banner);
}

function showOutcome(panel, state) {
  for (const mark of panel.querySelectorAll("[data-for-tone]")) toggle(mark, mark.dataset.forTone === state.tone);
  fillSlots(byId("i-paid-text"), state);
  if (!state.if_paid_text) toggle(byId("i-paid-text"), false);
  toggle(byId("ask-if-paid"), state.if_paid_text && byId("i-paid-text").hidden);
  toggle(byId("way-back"), Boolean(state.return_url) && byId("ask-if-paid").hidden);
  if (state.return_url) byId("return").href = state.return_url;
}

function showStranded(stranded) {
  toggle(byId("stranded"), stranded.length);
  fillList(byId("stranded").querySelector('[data-slot="stranded"]'), "stranded-row", stranded, (row, item) => {
    row.dataset.back = item.is_back ? "yes" : "no";
  });
}

function showTransactions(transactions) {
  toggle(byId("transactions"), transactions.length);
  fillList(byId("transactions").querySelector('[data-slot="transactions"]'), "transaction-row", transactions, (row, item) => {
    const link = row.querySelector("a");
    toggle(link, item.explorer_url);
    toggle(row.querySelector("[data-simulated]"), item.is_simulated);
    if (item.explorer_url) link.href = item.explorer_url;
  });
}
