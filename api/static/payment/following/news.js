// Hears from the server that an order has changed. What has changed is asked for as ever: this only says when.

const REFUSED_MS = 60_000; // until the next try; meanwhile the page asks

export class News {
  #source = null;
  #timer = 0;
  #isLive = false;

  /**
   * @param {string} url
   * @param {string} known the version that the page shows: to hear it is no news
   * @param {() => void} onNews something has changed, or may have
   * @param {(isLive: boolean) => void} onLive whether news can be had this way
   */
  constructor(url, known, onNews, onLive) {
    this.url = url;
    this.known = known;
    this.onNews = onNews;
    this.onLive = onLive;
    // A browser has six connections to a host: tabs that nobody looks at leave them to the others, and ask now and then.
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.stop(); });
  }

  /** Whether changes are told at once. */
  get isLive() {
    return this.#isLive;
  }

  /** Listen, until it is stopped; not where nobody looks, nor soon after it was refused. */
  start() {
    if (this.#source || this.#timer || document.hidden) return;
    const source = new EventSource(this.url);
    this.#source = source;
    source.addEventListener("open", () => this.#live(true));
    source.addEventListener("message", ({ lastEventId }) => this.#hear(lastEventId));
    source.addEventListener("error", () => {
      this.#live(false);
      if (source.readyState !== EventSource.CLOSED) return; // a lost connection is tried by the browser
      this.#source = null;
      this.#timer = setTimeout(() => { this.#timer = 0; }, REFUSED_MS);
      this.onNews();
    });
  }

  /** Hear no more. */
  stop() {
    this.#source?.close();
    this.#source = null;
    this.#live(false);
  }

  #hear(version) {
    const isNews = version !== this.known;
    this.known = ""; // only the first word can be what the page shows
    if (isNews) this.onNews();
  }

  #live(isLive) {
    if (this.#isLive === isLive) return;
    this.#isLive = isLive;
    this.onLive(isLive);
  }
}
