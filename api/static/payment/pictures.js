// A picture that does not load gives way to the letter under it; times are told in the customer's own time zone.

/** Take away pictures that failed, before or after this script came. */
export function dropBrokenPictures() {
  for (const picture of document.querySelectorAll(".item-picture img")) {
    if (picture.complete && picture.naturalWidth === 0) picture.remove();
    else picture.addEventListener("error", () => picture.remove());
  }
}

/** Tell each time the way it is told where the customer is. */
export function localiseTimes(lang) {
  const format = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
  for (const element of document.querySelectorAll("time[datetime]")) {
    element.textContent = format.format(new Date(element.dateTime));
  }
}
