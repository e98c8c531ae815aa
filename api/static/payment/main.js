// Puts the page together: the order's state decides what is shown, the customer what happens next.

import { Api, Problem } from "./api.js";
import { Chooser } from "./chooser.js";
import { Claiming } from "./claiming.js";
import { announce, byId, fillSlots, focusOn, toggle } from "./dom.js";
import { InFlight } from "./in_flight.js";
import { Leaving } from "./leaving.js";
import { Look } from "./look.js";
import { showState, titleOf } from "./panels.js";
import { Paying } from "./paying.js";
import { dropBrokenPictures, localiseTimes } from "./pictures.js";
import { BUSY_MS, CALM_MS, Polling } from "./polling.js";
import { Explaining } from "./problems.js";
import { showChooser } from "./quote_view.js";
import { Quoting } from "./quoting.js";
import { Reporting } from "./reporting.js";
import { Redirecting, go } from "./redirecting.js";
import { Sent } from "./sent.js";
import { TestControls } from "./test_controls.js";
import { WalletPayment } from "./wallet_payment.js";

const FINAL = ["success", "failed", "cancelled", "refunded"];

let current = null;
let tokens = null;
let retry = null;
let showsSent = false;
let paysAnyway = false;

const { path, state: firstState, merchant, strings, words, is_simulated: isSimulated } = JSON.parse(byId("checkout").dataset.page);
const lang = document.documentElement.lang;
const api = new Api(path);
const sent = new Sent(firstState.payment_order_id);
const look = new Look(strings, lang, sent);
const polling = new Polling(() => api.status(), (state) => apply(state), showTrouble);
const reporting = new Reporting(api, sent);
const quoting = new Quoting(api, strings, isSimulated, (problem) => showProblem(problem, () => quoting.renew()));
const explaining = new Explaining(strings, merchant, () => quoting.last);
const explain = (problem) => explaining.explain(problem);
const chooser = new Chooser(strings, (choice) => { hideProblem(); quoting.choose(choice); });
const redirecting = new Redirecting(strings, merchant);
const inFlight = new InFlight(firstState.payment_order_id, strings, onElsewhere);
const leaving = new Leaving(() => inFlight.isElsewhere || sent.transaction !== null || current.transactions.length > 0 || showsSent);
const walletPayment = isSimulated ? null : new WalletPayment(api, strings, (text) => inFlight.say(text));
const claiming = byId("claim") && walletPayment
  && new Claiming(api, strings, (say) => walletPayment.connect(say), explain, (state) => apply(state));
const controls = byId("test-controls") && new TestControls(api, strings, explain, onSimulated);

start();

function start() {
  byId("needs-script")?.remove();
  dropBrokenPictures();
  localiseTimes(lang);
  for (const element of document.querySelectorAll("[data-needs-script]")) toggle(element, true);
  new Paying({ api, strings, quoting, inFlight, walletPayment, claiming }, { follow, showProblem, hideProblem });
  byId("retry").addEventListener("click", () => { hideProblem(); retry(); });
  byId("change").addEventListener("click", () => { quoting.stop(); hideProblem(); showChooser(); chooser.focus(); });
  byId("pay-anyway").addEventListener("click", () => { paysAnyway = true; apply(current, true); focusOn(titleOf(current)); });
  byId("i-did-not").addEventListener("click", () => go(current.return_url));
  byId("i-paid").addEventListener("click", onPaidAlready);
  window.addEventListener("focus", () => look.begin());
  window.addEventListener("storage", ({ key }) => { if (key === sent.key) apply(current, true); });
  apply(firstState);
  polling.now();
  reporting.start();
}

/** Show a state of the order and do what it asks for; the same state again changes only what was looked up. */
function apply(state, isForced = false) {
  const before = current;
  const wasSent = showsSent;
  sent.learn(state);
  showsSent = state.panel === "pay" && sent.isPending(state);
  const isNews = !before || showsSent !== wasSent || identity(before) !== identity(state);
  current = state;
  if (isNews || isForced) draw(state);
  look.show(state);
  polling.every(pace(state));
  if (before && isNews && !showsSent) tell(state, wasSent && before.changes === state.changes);
}

function draw(state) {
  if (showsSent) showSent(state, strings.sent_text);
  else showState({ ...state, panel: paysAnyway && state.can_pay_anyway ? "pay" : state.panel, transactions: known(state) }, merchant);
  leaving.offer(showsSent ? { ...state, panel: "progress" } : state, words);
  controls?.offer(state.test_actions);
  claiming?.offer(state, sent.unlisted(state));
  if (!inFlight.isHere) leavePaying();
  if (!byId("pay").hidden) enterPaying();
}

/** Tell the customer what happened, and take them back if it is over. */
function tell(state, isLost) {
  announce(`${state.title}. ${state.text}`);
  if (isLost) showProblem(new Problem("refused", { explanation: strings.sent_lost }), null);
  else focusOn(titleOf(state));
  const isOver = state.redirect_after_s !== null && state.return_url && !inFlight.isHere && !inFlight.isElsewhere;
  if (isOver) redirecting.start(state.return_url, state.redirect_after_s);
}

/** What two answers share if nothing has happened between them. */
function identity({ changes, panel, payment_order_status: status, status_reason: reason }) {
  return [changes, panel, status, reason].join("/");
}

/** Whether nothing more is awaited; money that a bridge still has will come back, and what was sent will be seen. */
function isFinal(state) {
  if (state.stranded.some((row) => !row.is_back) || sent.unlisted(state) || look.isUnderWay(state)) return false;
  return FINAL.includes(state.payment_order_status) || state.tone === "notice";
}

function pace(state) {
  if (isFinal(state)) return 0;
  return byId("progress").hidden ? CALM_MS : BUSY_MS;
}

/** Show that a payment was sent which the server has not seen yet. */
function showSent(state, text) {
  const shown = { panel: "progress", tone: "progress", title: strings.sent_title, text };
  showState({ ...state, ...shown, transactions: known(state) }, merchant);
}

/** The transactions that the server lists, and the one that it has not seen yet. */
function known(state) {
  const own = sent.unlisted(state);
  return own ? [...state.transactions, { ...own, text: strings.sent_unseen, is_simulated: false }] : state.transactions;
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

/** Another tab has begun a payment, or ended one: what was chosen here is put away. */
function onElsewhere() {
  if (!current) return;
  if (inFlight.isElsewhere && !inFlight.isHere) {
    redirecting.stop();
    leavePaying();
    if (!byId("pay").hidden) enterPaying();
  }
  polling.now();
}

/** Follow a payment that was sent from here. */
function follow(text, report = null, state = current) {
  paysAnyway = false;
  sent.remember(current, report);
  reporting.start();
  apply(state, true);
  if (!showsSent) return;
  showSent(state, text);
  announce(`${strings.sent_title}. ${text}`);
  focusOn(byId("progress-title"));
}

function onSimulated(state) {
  if (state.panel === "pay") follow(strings.sent_text, null, state);
  else apply(state);
  if (!isFinal(state)) polling.every(BUSY_MS);
}

function onPaidAlready() {
  toggle(byId("ask-if-paid"), false);
  toggle(byId("i-paid-text"), true);
  claiming?.open();
  focusOn(byId("i-paid-text"));
}

function showProblem(problem, again, { label = words.retry, takesFocus = true } = {}) {
  retry = again;
  toggle(byId("retry"), again !== null);
  byId("retry").textContent = label;
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
