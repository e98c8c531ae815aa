// Seconds that run down by the machine's own steady clock, whatever the time of day is set to.

/** The moment so many seconds from now, on the clock of countdowns. */
export function inSeconds(seconds) {
  return performance.now() + seconds * 1000;
}

/** How many seconds are left until then. */
export function secondsUntil(end) {
  return Math.max(0, Math.ceil((end - performance.now()) / 1000));
}

/** A waiting time as a clock shows it: 0:05, 12:34, 1:02:03. */
export function clock(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const rest = two(seconds % 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

export class Countdown {
  #timer = 0;

  /** Call `onSecond` with what is left of the time until `end`, now and each second, and `onEnd` at the end. */
  start(end, onSecond, onEnd) {
    this.stop();
    const tick = () => {
      const left = secondsUntil(end);
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
