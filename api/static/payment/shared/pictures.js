// A picture that does not load gives way to the letter under it; times are told in the customer's own time zone.

import { formatMoment } from "./language.js";

/** Take away pictures that failed, before or after this script came. */
export function dropBrokenPictures() {
  for (const picture of document.querySelectorAll(".item-picture img, .avatar img")) {
    if (picture.complete && picture.naturalWidth === 0) picture.remove();
    else picture.addEventListener("error", () => picture.remove());
  }
}

const INLINE_PICTURE = /^data:image\/(png|webp|gif|jpeg|svg\+xml)[;,]/i;
const LONGEST_PICTURE = 128 * 1024;

/** Return the picture that a wallet gives of itself (EIP-6963), or "" for what is no small picture in the address. */
export function pickPicture(source) {
  return typeof source === "string" && source.length <= LONGEST_PICTURE && INLINE_PICTURE.test(source) ? source : "";
}

/** Tell the moment that a state's texts name in the customer's own time zone, too. */
export function localiseUntil(state) {
  const { until, banner, leave } = state;
  if (!until) return state;
  const tell = (texts) => texts && { ...texts, text: texts.text.replace(until.text, formatMoment(until.at)) };
  return { ...tell(state), banner: tell(banner), leave: tell(leave), until: null };
}

/** Tell each time the way it is told where the customer is; on a receipt one second may decide. */
export function localiseTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    element.textContent = formatMoment(element.dateTime, element.closest("#receipt-rows"));
  }
}
