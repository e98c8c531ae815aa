// From the first look at the wallet to a choice: the best way to pay is chosen at once, every other is in the list.

import { Chooser, keyOf } from "./chooser.js";
import { announce, byId, fill, fillSlots, focusOn, toggle } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { Options } from "./options.js";
import { showChooser } from "../quoting/quote_view.js";
import { noteChoice, recallChoice, takeStep } from "./way.js";

export class Choosing {
  #tokens = null;
  #restored = null;
  #found = null;
  #isListed = false;
  #isTouched = false;
  #isHere = false;
  #isReady = false;
  #reading = null;
  #last = null;
  #isReturning = false;

  /**
   * @param {object} parts `api`, `quoting`, and `connection` (null where the test wallet pays)
   * @param {object} page what it does and knows: `showProblem(problem, again)`, `hideProblem`, `isElsewhere()`,
   *   `isPaying()`
   */
  constructor(parts, page) {
    Object.assign(this, parts);
    this.page = page;
    this.chooser = new Chooser((choice) => this.#choose(choice));
    this.options = new Options(this.api, (...found) => this.#receive(...found));
    byId("change").addEventListener("click", () => { takeStep("choose"); this.#change(); });
    byId("keep").addEventListener("click", () => this.#choose(this.#last));
    byId("choose").addEventListener("keydown", ({ key }) => { if (key === "Escape" && !byId("keep").hidden) byId("keep").click(); });
    window.addEventListener("popstate", ({ state }) => this.#onBack(state?.step));
    byId("connect-button")?.addEventListener("click", ({ detail }) => { if (detail < 2) this.#connect(); }); // not twice by one double tap
    byId("other-wallet")?.addEventListener("click", () => this.#connect());
  }

  /** Offer the ways to pay; the first time the best of them is chosen already. */
  async enter() {
    this.#isHere = true;
    const priced = this.#read().catch(() => {}); // without prices the list is there still
    try {
      await this.#restored;
      if (!this.#knowsWallet) this.#list().catch(() => {}); // nothing will be chosen, so it is needed
      await priced;
      if (byId("review").hidden) await this.#list();
      if (this.#isHere && byId("review").hidden) {
        this.#show();
        takeStep("choose", { isFirst: true });
      }
    } catch (problem) {
      this.page.showProblem(problem, () => this.enter());
    } finally {
      toggle(byId("tokens-loading"), false);
      performance.mark("interactive");
    }
  }

  /** Choose nothing any more: the order's state is another, or another tab pays. */
  leave() {
    this.#isTouched = false; // who comes back finds what a reload would show
    this.#isHere = false;
    this.options.stop();
    this.quoting.stop();
    toggle(byId("review"), false);
    this.page.hideProblem();
  }

  /** Another wallet or account pays from now on. */
  async reconsider() {
    this.#showConnection();
    this.quoting.relabel();
    if (this.#isReady) await (this.#reading = this.#read().catch(() => {}));
  }

  async #read() {
    if (this.connection) await (this.#restored ??= this.connection.restore());
    this.#isReady = true;
    await this.options.read(this.connection?.current ?? null, !this.#isTouched && this.#knowsWallet);
  }

  #receive(found, isAgain = false) {
    if (this.#found && this.#found.note !== found.note) this.#renew();
    this.#found = found;
    this.chooser.offerOptions(found.options, isAgain);
    this.#showNote(isAgain);
    if (!this.#isHere || this.page.isElsewhere()) return;
    const [best] = found.options;
    const chosen = this.quoting.choice && found.options.find((option) => keyOf(option) === keyOf(this.quoting.choice));
    if (chosen) this.quoting.judge(chosen);
    if (this.#isTouched) return;
    const before = recallChoice(this.api.path);
    const again = before && (found.options.find((option) => keyOf(option) === keyOf(before)) ?? before);
    if (!again && (!this.#knowsWallet || best?.standing !== "enough")) return;
    this.#isTouched = true;
    takeStep("review", { isFirst: true });
    this.#last = again ?? best;
    this.quoting.choose(this.#last, { isQuiet: true, held: this.#last === best ? found.quote : null });
  }

  /** Whether it is known who pays; only then anything is chosen. */
  get #knowsWallet() {
    return !this.connection || this.connection.current !== null;
  }

  /** Fetch the list of all tokens, once: who pays as suggested needs none of it. */
  async #list() {
    this.#tokens ??= this.api.tokens();
    try {
      const { chains } = await this.#tokens;
      if (!this.#isListed) this.chooser.offerChains(chains);
      this.#isListed = true;
    } catch (problem) {
      this.#tokens = null;
      throw problem;
    }
  }

  /** The networks that can be paid on are others by now. */
  #renew() {
    this.#tokens = null;
    this.#isListed = false;
    if (byId("review").hidden) this.#list().catch(() => {});
  }

  #choose(choice) {
    this.#isTouched = true;
    this.#last = choice;
    noteChoice(this.api.path, choice);
    this.page.hideProblem();
    this.#isReturning = takeStep("review");
    this.quoting.choose(choice);
  }

  /** Go where the browser's own buttons lead; not away from a payment that is being made. */
  #onBack(to) {
    const isMine = this.#isReturning;
    this.#isReturning = false;
    if (isMine || !this.#isHere || this.page.isPaying() || this.page.isElsewhere()) return;
    if (to === "choose") this.#change();
    else if (to === "review" && this.#last) this.quoting.choose(this.#last);
  }

  /** Show the list, once it is whole: nothing comes above or between what can be tapped by then. */
  async #change() {
    this.quoting.stop();
    this.page.hideProblem();
    this.#isTouched = true;
    toggle(byId("review"), false);
    toggle(byId("tokens-loading"), !this.#isListed);
    const problem = await this.#list().catch((each) => each);
    toggle(byId("tokens-loading"), false);
    if (!this.#isHere || this.quoting.choice) return;
    this.#show();
    if (problem) this.page.showProblem(problem, () => this.#change());
    else this.chooser.focus();
  }

  async #connect() {
    this.page.hideProblem();
    this.#isTouched = false;
    try {
      await this.connection.connect((text) => this.#say(text));
      this.page.hideProblem(); // of a tap that came while the wallet asked
      await this.#reading;
      focusOn(byId("review").hidden ? byId("choose-title") : byId("review-title"));
    } catch (problem) {
      this.page.showProblem(problem, null);
    } finally {
      this.#showNote();
    }
  }

  /** Show the list; from then on nothing is chosen that the customer has not chosen. */
  #show() {
    this.#isTouched = true;
    showChooser();
    this.chooser.show();
    toggle(byId("keep"), this.#last !== null);
    this.#showConnection();
    this.#showNote();
  }

  #showConnection() {
    if (!this.connection) return;
    const { current, label } = this.connection;
    toggle(byId("connect"), !current);
    toggle(byId("connected"), current);
    if (current) fillSlots(byId("connected"), { connected: fill(strings.connected, { wallet: label }) });
  }

  #say(text) {
    this.#note(text);
    announce(text);
  }

  /** Show a text above the list; without one its room stays where it should, while the list is looked at. */
  #note(text, stays = false) {
    const box = byId("options-note");
    if (text) box.textContent = text;
    box.style.visibility = text ? "" : "hidden";
    toggle(box, text || (stays && !box.hidden));
  }

  #showNote(isAgain = false) {
    const { options, unread, note } = this.#found ?? { options: [], unread: [] };
    const isPoor = options.length > 0 && options.every((option) => !option.is_payable);
    const unknown = unread.length && fill(strings.unread, { chains: unread.map(({ name }) => name).join(", ") });
    this.#note([note, isPoor && strings.none_enough, unknown].filter(Boolean).join(" "), isAgain);
  }
}
