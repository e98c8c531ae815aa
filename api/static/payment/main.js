// Puts the page together: the order's state decides what is shown, the customer what happens next.

import { Api, Problem } from "./api.js";
import { offerCancelling } from "./cancelling.js";
import { Chooser } from "./chooser.js";
import { announce, byId, fill, fillSlots, focusOn, toggle } from "./dom.js";
import { showState, titleOf } from "./panels.js";
import { dropBrokenPictures, localiseTimes } from "./pictures.js";
import { BUSY_MS, CALM_MS, Polling } from "./polling.js";
import { showChooser, showPaying } from "./quote_view.js";
import { Quoting } from "./quoting.js";
import { Reporting } from "./reporting.js";
import { Redirecting, go } from "./redirecting.js";
import { Sent } from "./sent.js";
import { WalletProblem } from "./wallet.js";
import { TestControls } from "./test_controls.js";
import { WalletPayment } from "./wallet_payment.js";

const FINAL = ["success", "failed", "cancelled", "refunded"];

const { path, state: firstState, merchant, strings, is_simulated: isSimulated } = JSON.parse(byId("checkout").dataset.page);
const api = new Api(path);
const sent = new Sent(firstState.payment_order_id);
const polling = new Polling(() => api.status(), (state) => apply(state), showTrouble);
const reporting = new Reporting(api, sent);
const quoting = new Quoting(api, strings, isSimulated, (problem) => showProblem(problem, () => quoting.renew()));
const chooser = new Chooser(strings, (choice) => { hideProblem(); quoting.choose(choice); });
const redirecting = new Redirecting(strings, merchant);
const walletPayment = isSimulated ? null : new WalletPayment(api, strings);
const controls = byId("test-controls") && new TestControls(api, strings, explain, onSimulated);

let current = null;
let tokens = null;
let retry = null;
let showsSent = false;

start();

function start() {
  byId("needs-script")?.remove();
  dropBrokenPictures();
  localiseTimes(document.documentElement.lang);
  for (const element of document.querySelectorAll("[data-needs-script]")) {
    toggle(element, true);
  }
  byId("pay-button").addEventListener("click", pay);
  byId("retry").addEventListener("click", () => { hideProblem(); retry(); });
  byId("change").addEventListener("click", () => { quoting.stop(); hideProblem(); showChooser(); chooser.focus(); });
  byId("i-did-not").addEventListener("click", () => go(current.return_url));
  byId("i-paid").addEventListener("click", () => {
    toggle(byId("ask-if-paid"), false);
    toggle(byId("i-paid-text"), true);
    focusOn(byId("i-paid-text"));
  });
  offerCancelling(api, explain, (state) => {
    apply(state);
    if (state.payment_order_status === "cancelled") go(state.return_url);
  });
  apply(firstState);
  reporting.start();
}

/** Show a state of the order and do what it asks for; the same state again changes nothing. */
function apply(state) {
  const before = current;
  const wasSent = showsSent;
  showsSent = state.panel === "pay" && sent.isPending(state);
  if (before && showsSent === wasSent && identity(before) === identity(state)) return;
  current = state;
  if (showsSent) showSent(state, strings.sent_text);
  else showState(state, merchant);
  controls?.offer(state.test_actions);
  leavePaying();
  if (!byId("pay").hidden) enterPaying();
  polling.every(isFinal(state) ? 0 : pace());
  if (before && !showsSent) tell(state, wasSent && before.changes === state.changes);
}

/** Tell the customer what happened, and take them back if it is over. */
function tell(state, isLost) {
  announce(`${state.title}. ${state.text}`);
  if (isLost) showProblem(new Problem("refused", { reason: strings.sent_lost }), null);
  else focusOn(titleOf(state));
  if (state.redirect_after_s !== null && state.return_url) redirecting.start(state.return_url, state.redirect_after_s);
}

/** What two answers share if nothing has happened between them. */
function identity({ changes, panel, payment_order_status: status, status_reason: reason }) {
  return [changes, panel, status, reason].join("/");
}

/** Whether nothing more can happen; money that a bridge still has will come back. */
function isFinal(state) {
  if (state.stranded.some((row) => !row.is_back)) return false;
  return FINAL.includes(state.payment_order_status) || state.tone === "notice";
}

function pace() {
  return byId("progress").hidden ? CALM_MS : BUSY_MS;
}

/** Show that a payment was sent which the server has not seen yet. */
function showSent(state, text) {
  const shown = { panel: "progress", tone: "progress", title: strings.sent_title, text, can_cancel: false };
  showState({ ...state, ...shown, transactions: sentTransactions() }, merchant);
}

function sentTransactions() {
  const transaction = sent.transaction;
  return transaction ? [{ chain: transaction.chain, hash: transaction.hash, explorer_url: transaction.explorer_url, is_simulated: false }] : [];
}

/** Offer the tokens, which are fetched once. */
async function enterPaying() {
  try {
    tokens ??= api.tokens().then(({ chains }) => chooser.offer(chains));
    await tokens;
    if (!byId("pay").hidden && byId("review").hidden) showChooser();
  } catch (problem) {
    tokens = null;
    showProblem(problem, enterPaying);
  } finally {
    toggle(byId("tokens-loading"), false);
  }
}

function leavePaying() {
  quoting.stop();
  toggle(byId("review"), false);
  hideProblem();
}

async function pay() {
  const quote = quoting.payable;
  if (!quote || byId("pay-button").getAttribute("aria-disabled")) return;
  hideProblem();
  quoting.hold();
  showPaying(strings);
  try {
    await (isSimulated ? payFromTestWallet(quote) : payFromWallet(quote));
  } catch (problem) {
    onPayFailed(problem);
  } finally {
    walletPayment?.end();
  }
}

async function payFromTestWallet(quote) {
  announce(strings.paying);
  const state = await api.pay(quote.quote_id);
  followPayment(state, strings.sent_text);
}

/** Once the wallet has sent something, no failure is told as if nothing had been. */
async function payFromWallet(quote) {
  let isSent = false;
  try {
    await walletPayment.pay(quote, (report) => {
      isSent = true;
      followPayment(current, strings.sent_text, report.hash ? report : null);
      reporting.start();
    });
  } catch (problem) {
    if (!isSent || problem.kind === "reverted") throw problem;
  }
}

function followPayment(state, text, report = null) {
  sent.remember(current, report);
  apply(state);
  if (!showsSent) return;
  showSent(state, text);
  announce(`${strings.sent_title}. ${text}`);
  focusOn(byId("progress-title"));
}

function onPayFailed(problem) {
  if (problem instanceof WalletProblem) {
    quoting.offerAgain();
    showProblem(problem, null, false);
  } else if (problem.reason === "quote_expired") {
    announce(strings.pay_refused_quote);
    quoting.renew();
  } else if (problem.kind === "refused") {
    quoting.offerAgain();
    showProblem(problem, null, false);
  } else if (problem.kind === "busy") {
    quoting.offerAgain();
    showProblem(problem, pay, false);
  } else if (!isSimulated) {
    quoting.offerAgain();
    showProblem(problem, null, false);
  } else {
    followPayment(current, strings.error_pay_unknown);
  }
}

function onSimulated(state) {
  if (state.panel === "pay") followPayment(state, strings.sent_text);
  else apply(state);
  if (!isFinal(state)) polling.every(BUSY_MS);
}

function explain(problem) {
  if (problem instanceof WalletProblem) return explainWallet(problem);
  if (problem.explanation) return problem.explanation;
  switch (problem.kind) {
    case "network": return strings.error_network;
    case "busy": return fill(strings.error_busy, { seconds: String(problem.retryAfterS) });
    case "server": return strings.error_server;
    default:
  }
  if (problem.reason === "wallet_rejected") return fill(strings.error_wallet_rejected, { merchant });
  if (problem.reason === "payment_would_fail") return strings.error_would_fail;
  if (problem.reason === "no_route") return fill(strings.error_no_route, { merchant });
  return problem.reason === "order_not_waiting_for_payment" ? strings.error_gone : problem.reason;
}

function explainWallet({ kind, detail }) {
  const words = { chain: quoting.payable?.chain ?? "", detail };
  return fill(strings[`wallet_${kind}`], words);
}

function showProblem(problem, again, takesFocus = true) {
  retry = again;
  toggle(byId("retry"), again !== null);
  const box = byId("problem");
  fillSlots(box, { text: explain(problem) });
  toggle(box, true);
  announce(explain(problem));
  if (takesFocus) focusOn(box);
  if (problem.kind === "refused") polling.now();
}

function hideProblem() {
  toggle(byId("problem"), false);
}

/** While a payment is followed, say when its news can't be had. */
function showTrouble(problem) {
  const trouble = byId("trouble");
  toggle(trouble, problem !== null && !byId("progress").hidden);
  if (problem) trouble.textContent = explain(problem);
}
