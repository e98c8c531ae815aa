// The order's details are folded on a phone only. Newer browsers need no script for that; it is for the older ones.

import { byId } from "./dom.js";

const WIDE = "(min-width: 60rem)";

/** Keep the details open while there is room for them beside the payment. */
export function keepDetailsOpen() {
  const wide = matchMedia(WIDE);
  const follow = () => { byId("details").open = wide.matches; };
  if (wide.matches) follow();
  wide.addEventListener("change", follow);
}
