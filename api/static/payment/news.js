// Hears from the server that an order has changed. What has changed is asked for as ever: this only says when.

const RECONNECT_MS = 60_000;

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
    window.addEventListener("pagehide", () => this.stop());
  }

  /** Whether changes are told at once. */
  get isLive() {
    return this.#isLive;
  }

  /** Listen, until it is stopped. */
  start() {
    if (this.#source) return;
    clearTimeout(this.#timer);
    const source = new EventSource(this.url);
    this.#source = source;
    source.addEventListener("open", () => this.#live(true));
    source.addEventListener("message", ({ lastEventId }) => this.#hear(lastEventId));
    source.addEventListener("error", () => {
      this.#live(false);
      if (source.readyState === EventSource.CLOSED) this.#later(); // refused; a lost connection is tried by the browser
    });
  }

  /** Hear no more. */
  stop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
    this.#isLive = false;
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

  #later() {
    this.#source = null;
    this.onNews();
    this.#timer = setTimeout(() => this.start(), RECONNECT_MS);
  }
}
