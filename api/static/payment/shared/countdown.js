// Seconds that run down by the machine's own steady clock, whatever the time of day is set to.

/** The moment so many seconds from now, on the clock of countdowns. */
export function inSeconds(seconds) {
  return performance.now() + seconds * 1000;
}

export class Countdown {
  #timer = 0;

  /** Call `onSecond` with what is left of the time until `end`, now and each second, and `onEnd` at the end. */
  start(end, onSecond, onEnd) {
    this.stop();
    const tick = () => {
      const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      onSecond(left);
      if (left > 0) return;
      this.stop();
      onEnd();
    };
    this.#timer = setInterval(tick, 1000);
    tick();
  }

  stop() {
    clearInterval(this.#timer);
  }
}
