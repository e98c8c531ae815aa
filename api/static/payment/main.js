// Puts the page together: the order's state decides what is shown, the customer what happens next.

import { Api, Problem } from "./shared/api.js";
import { Choosing } from "./choosing/choosing.js";
import { Claiming } from "./paying/claiming.js";
import { Connection } from "./wallets/connection.js";
import { Devices } from "./wallets/devices.js";
import { addSheet, announce, byId, fill, fillSlots, focusOn, toggle } from "./shared/dom.js";
import { keepDetailsOpen } from "./shared/folding.js";
import { InFlight } from "./paying/in_flight.js";
import { strings } from "./shared/language.js";
import { Leaving } from "./closing/leaving.js";
import { Look } from "./following/look.js";
import { showContact, showState, titleOf } from "./following/panels.js";
import { Paying } from "./paying/paying.js";
import { dropBrokenPictures, localiseTimes, localiseUntil } from "./shared/pictures.js";
import { BUSY_MS, CALM_MS, LIVE_MS, Polling } from "./following/polling.js";
import { News } from "./following/news.js";
import { Explaining } from "./paying/problems.js";
import { offerCopy } from "./quoting/quote_view.js";
import { Quoting } from "./quoting/quoting.js";
import { Receipt } from "./closing/receipt.js";
import { Reporting } from "./paying/reporting.js";
import { Redirecting, go } from "./closing/redirecting.js";
import { Sent } from "./paying/sent.js";
import { Steps, withOwn } from "./following/steps.js";
import { showTab } from "./shared/tab.js";
import { guardTaps } from "./shared/taps.js";
import { TestControls } from "./paying/test_controls.js";
import { WalletPayment } from "./paying/wallet_payment.js";

let current = null;
let retry = null;
let isCutOff = false;
let isUnsent = false;
let showsSent = false;
let paysAnyway = false;

const { path, state: firstState, version, merchant, words, is_simulated: isSimulated } = JSON.parse(byId("checkout").dataset.page);
const api = new Api(path);
const sent = new Sent(firstState.payment_order_id);
const look = new Look(sent);
const polling = new Polling(() => api.status(showsSent ? sent.quoteId : null), (state) => apply(state), showTrouble);
const news = new News(`${path}/events`, isFresh() ? version : "", () => polling.now(), () => polling.every(pace(current)));
const steps = new Steps((isLate) => showContact(current, isLate));
const reporting = new Reporting(api, sent, () => apply(current, true));
const connection = isSimulated ? null : new Connection(() => choosing.reconsider(), onSwitch);
const quoting = new Quoting(api, labelOf, onUnpriced);
const explaining = new Explaining(merchant, () => quoting.last);
const explain = (problem) => explaining.explain(problem);
const choosing = new Choosing({ api, quoting, connection }, { showProblem, hideProblem, isElsewhere: () => inFlight.isElsewhere, isPaying: () => inFlight.isHere });
const redirecting = new Redirecting(merchant);
const receipt = new Receipt(() => redirecting.stop());
const inFlight = new InFlight(firstState.payment_order_id, onElsewhere);
const leaving = new Leaving(() => inFlight.isElsewhere || showsSent, () => sent.transaction !== null || current.transactions.length > 0);
const walletPayment = isSimulated ? null : new WalletPayment(api, connection, (...said) => inFlight.say(...said));
const claiming = byId("claim") && walletPayment
  && new Claiming(api, (say) => connection.ask(say), explain, (state) => apply(state));
const devices = new Devices(!isSimulated && firstState.panel === "pay", () => current && polling.every(pace(current)), () => quoting.relabel());
const controls = byId("test-controls") && new TestControls(api, explain, onSimulated);

start();

function start() {
  byId("needs-script")?.remove();
  dressForced();
  guardTaps();
  dropBrokenPictures();
  keepDetailsOpen();
  localiseTimes();
  offerCopy();
  for (const element of document.querySelectorAll("[data-needs-script]")) toggle(element, true);
  new Paying({ api, quoting, inFlight, walletPayment, claiming, devices }, { follow, showProblem, hideProblem, settle });
  byId("retry").addEventListener("click", tryAgain);
  byId("pay-anyway").addEventListener("click", () => { paysAnyway = true; apply(current, true); focusOn(titleOf(current)); });
  byId("i-did-not").addEventListener("click", () => go(current.return_url));
  byId("i-paid").addEventListener("click", () => onAnswered(true));
  byId("change-answer").addEventListener("click", () => onAnswered(false));
  window.addEventListener("online", () => { if (isCutOff && retry && !byId("problem").hidden) byId("retry").click(); });
  window.addEventListener("focus", () => look.begin());
  window.addEventListener("storage", ({ key }) => { if (key === sent.key) apply(current, true); });
  apply(firstState);
  if (firstState.panel === "outcome" || showsSent) polling.now(); // otherwise the stream's first word, or its lack, makes it ask
  reporting.start();
  if (byId("pay").hidden) performance.mark("interactive");
}

/** Where the system forces its own colours, fetch what that needs. */
function dressForced() {
  const forced = matchMedia("(forced-colors: active)");
  forced.onchange = () => { if (forced.matches) addSheet({ href: byId("checkout").dataset.forced }); };
  forced.onchange();
}

/** Whether the server has just said that this page holds: who goes back is shown one that was kept, unasked. */
function isFresh() {
  return performance.getEntriesByType("navigation")[0]?.type !== "back_forward";
}

/** Show a state of the order and do what it asks for; the same state again changes only what was looked up. */
function apply(told, isForced = false) {
  const state = localiseUntil(told);
  const before = current;
  const wasSent = showsSent;
  sent.learn(state);
  showsSent = (awaitsPayment(state) || state.is_paused) && sent.isPending(state);
  const isNews = !before || showsSent !== wasSent || identity(before) !== identity(state);
  current = state;
  if (!awaitsPayment(state) && state.transactions.length) inFlight.end(); // it is seen, whatever the wallet says
  if (isNews || isForced) draw(state);
  followSteps(state);
  look.show(state);
  if (state.panel === "outcome") news.stop(); // the streams there are room for are those of open orders
  else news.start();
  polling.every(pace(state));
  if (before && isNews && !showsSent) tell(state, before, wasSent && before.changes === state.changes);
}

/** Whether nothing that was paid is seen any more; of an undone payment it is asked first. */
function awaitsPayment({ panel, payment_order_status: status }) {
  return panel === "pay" || (panel === "progress" && status === "created");
}

function draw(state) {
  if (showsSent) showSent(state);
  else showState({ ...state, ...withoutWarning(state), ...whileAsked(state), panel: paysAnyway && state.pay_anyway_text ? "pay" : state.panel, transactions: known(state) });
  receipt.show(state);
  leaving.offer(showsSent ? { ...state, panel: "progress" } : state, words);
  controls?.offer(state.test_actions);
  claiming?.offer(state, sent.unlisted(state));
  if (!inFlight.isHere) choosing.leave();
  if (!byId("pay").hidden) choosing.enter();
}

/** Who is asked by a wallet while the order ends is asked nothing else, and told one thing. */
function whileAsked(state) {
  if (!inFlight.isHere || !state.if_paid_text || !walletPayment?.late) return {};
  toggle(byId("in-flight"), false);
  return { text: walletPayment.late, if_paid_text: "", return_url: null };
}

/** Tell the customer what happened, and take them back if it is over. */
function tell(state, before, isLost) {
  const isOver = state.redirect_after_s !== null && state.return_url && !inFlight.isHere && !inFlight.isElsewhere;
  const goes = isOver && isFresh() && before.payment_order_status !== state.payment_order_status;
  if (!isOver) redirecting.stop();
  const more = goes ? redirecting.start(state.return_url, state.redirect_after_s) : "";
  announce(`${state.title}. ${state.text} ${more}`);
  if (isLost) showProblem(new Problem("refused", { explanation: strings.sent_lost }), null);
  else focusOn(titleOf(state));
}

/** What two answers share if nothing has happened between them. */
function identity({ changes, panel, payment_order_status: status, status_reason: reason }) {
  return [changes, panel, status, reason].join("/");
}

function pace(state) {
  if (state.panel === "outcome") return document.hidden ? 0 : CALM_MS;
  if (news.isLive) return LIVE_MS;
  return byId("progress").hidden && !devices.isOpen ? CALM_MS : BUSY_MS;
}

/** Show that a payment was sent which the server has not seen yet, or that nobody knows whether it was sent. */
function showSent(state) {
  const { title, text } = describeSent();
  const shown = { panel: "progress", tone: "progress", title, text, summary_text: words.payment_to };
  showState({ ...state, ...shown, transactions: known(state) });
  showTab(`${title} · ${merchant}`, "progress");
}

function describeSent() {
  if (sent.isUnsure) return { title: strings.unsure_title, text: strings.error_pay_unknown };
  return { title: strings.sent_title, text: strings.sent_text };
}

/** Show how far the payment is, and for how long that has taken. */
function followSteps(state) {
  const { pay_anyway_text: anyway } = { ...state, ...withoutWarning(state) };
  toggle(byId("not-arrived"), anyway); // comes with time alone
  fillSlots(byId("not-arrived"), { anyway });
  const isUnsure = showsSent ? sent.isUnsure : awaitsPayment(state); // then nothing is known to go on
  toggle(byId("steps"), !isUnsure);
  toggle(byId("closing"), !isUnsure && (showsSent || state.steps.length > 0));
  if (isUnsure || byId("progress").hidden) steps.stop();
  else steps.show(showsSent ? withOwn(state.steps, sent.unlisted(state), sent.seconds) : state.steps);
}

/** Who knows that the payment on its way is their own needs no warning of it. */
function withoutWarning(state) {
  const isOwn = !awaitsPayment(state) && state.panel === "progress" && !paysAnyway && sent.isListed(state);
  return isOwn ? { on_its_way_text: "", pay_anyway_text: "" } : {};
}

/** The transactions that the server lists, and the one that it has not seen yet; once all is paid, a faster one has replaced that. */
function known(state) {
  const own = state.tone === "success" ? null : sent.unlisted(state);
  return own ? [...state.transactions, { ...own, label: strings.sent_title, text: strings.sent_unseen, is_simulated: false }] : state.transactions;
}

/** What the button says: how much, and who pays. */
function labelOf(amount) {
  if (isSimulated) return fill(strings.pay_test_button, { amount });
  if (devices.label) return devices.label;
  const { label } = connection;
  return fill(label ? strings.pay_wallet_button : strings.pay_button, { amount, wallet: label });
}

/** Another tab has begun a payment, or ended one: what was chosen here is put away. */
function onElsewhere() {
  if (!current) return;
  if (inFlight.isElsewhere && !inFlight.isHere) {
    redirecting.stop();
    choosing.leave();
    if (!byId("pay").hidden) choosing.enter();
  }
  polling.now();
}

/** Follow a payment that was sent from here, by this quote; of one that only happened here there is none. */
function follow(quote, { report = null, state = current, isUnsure = false } = {}) {
  paysAnyway = false;
  sent.remember(current, report, quote?.quote_id, isUnsure);
  reporting.start();
  apply(state, true);
  if (!showsSent) return;
  polling.now(); // its stages are those of the quote that was paid just now
  const { title, text } = describeSent();
  announce(`${title}. ${text}`);
  focusOn(byId("progress-title"));
}

/** The wallet has answered everything: an order that ended meanwhile asks what it asks. */
function settle() {
  if (current.panel === "outcome") apply(current, true);
}

function onSimulated(state) {
  if (state.panel === "pay") follow(null, { state });
  else apply(state);
  polling.now();
}

function onAnswered(hasPaid) {
  toggle(byId("ask-if-paid"), !hasPaid);
  toggle(byId("i-paid-text"), hasPaid);
  toggle(byId("way-back"), hasPaid && Boolean(current.return_url));
  claiming?.open(hasPaid);
  focusOn(byId(hasPaid ? "i-paid-text" : "i-paid"));
}

function showProblem(problem, again, { label = words.retry, takesFocus = true } = {}) {
  if (problem.kind === "no_wallet") return devices.offerAgain();
  retry = again;
  isCutOff = problem.kind === "network";
  isUnsent ||= problem.kind === "offline";
  toggle(byId("retry"), again !== null);
  byId("retry").textContent = label;
  const box = byId("problem");
  fillSlots(box, { text: explain(problem) });
  toggle(box, true);
  announce(explain(problem));
  if (takesFocus) focusOn(box);
  if (problem.kind === "refused") polling.now();
}

/** Another account pays now: what was said of the one before holds no more. */
function onSwitch(problem) {
  if (!byId("pay").hidden && !inFlight.isHere) showProblem(problem, null, { takesFocus: false });
}

/** No price could be had: ask again, or choose what has one. */
function onUnpriced(problem) {
  if (problem.reason !== "no_route") return showProblem(problem, () => quoting.renew());
  return showProblem(problem, () => byId("change").click(), { label: strings.choose_other });
}

function hideProblem() {
  isUnsent = false;
  toggle(byId("problem"), false);
}

/** That a payment was not sent stays said until it is tried again. */
function tryAgain() {
  const wasUnsent = isUnsent;
  hideProblem();
  retry();
  if (wasUnsent) showProblem(new Problem("offline"), null, { takesFocus: false });
}

/** Say when there is no connection; while a payment is followed, that it goes on without the page too. */
function showTrouble(problem) {
  const offline = byId("offline");
  const isLost = problem?.kind === "network";
  const isOffline = isLost && !byId("pay").hidden;
  if (isOffline === offline.hidden && isOffline === isLost) announce(isOffline ? offline.textContent : strings.online);
  toggle(offline, isOffline);
  const trouble = byId("trouble");
  toggle(trouble, problem !== null && byId("pay").hidden);
  if (!problem) return;
  const goesOn = !byId("progress").hidden && !(showsSent && sent.isUnsure);
  const text = isLost ? fill(goesOn ? strings.offline : strings.offline_closed, { merchant }) : explain(problem);
  if (trouble.textContent !== text) trouble.textContent = text; // or it would be read out at each try
}
