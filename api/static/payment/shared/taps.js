// Of two quick taps the second falls on what the first one has brought: it does nothing there.

const GUARD_MS = 700;
const NEAR_PX = 32;
const QUICK_MS = 3_000; // the answer to the first tap may have taken a while

let changedAt = -GUARD_MS;
let lastTap = null;

/** Note that something else stands on the screen now. */
export function noteChange() {
  changedAt = performance.now();
}

/** Let no tap through that was meant for what stood there before; keys are no taps. */
export function guardTaps() {
  document.addEventListener("click", (event) => {
    if (!event.detail) return;
    const { clientX: x, clientY: y } = event;
    const now = performance.now();
    const isRepeated = lastTap && now - lastTap.now < QUICK_MS && Math.hypot(x - lastTap.x, y - lastTap.y) < NEAR_PX;
    lastTap = { x, y, now };
    if (!isRepeated || now - changedAt > GUARD_MS) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}
