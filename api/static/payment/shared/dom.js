// Small helpers around the server's HTML. Text goes in as text, never as markup.

const LONG_NUMBER = /\d[\d.,]{23,}/g;
const GROUP = /[.,](?=\d{3}(?!\d))|\d{6}(?=\d)/g;
const MORE = "more-"; // begins the names in the sprite that few need

export const byId = (id) => document.getElementById(id);

/** Show an element for what is true, a text, or there; else hide it. */
export function toggle(element, isVisible) {
  element.hidden = !isVisible;
}

/** Put values into the elements that have a slot of their name, `root` or in it; others stay as they are. */
export function fillSlots(root, values) {
  for (const element of [root, ...root.querySelectorAll("[data-slot]")]) {
    const value = values[element.dataset.slot];
    if (typeof value === "string") write(element, value);
  }
}

/** Write a text; a number for which no line has room may break in it, but only between groups of digits. */
function write(element, text) {
  if (element.textContent === text) return;
  const [first, ...rest] = text.replace(LONG_NUMBER, (number) => number.replace(GROUP, "$&\u200b")).split("\u200b");
  element.textContent = first;
  for (const part of rest) element.append(document.createElement("wbr"), part);
}

/**
 * Make the rows of a list those of these items. A row that is there already stays, with the new texts: who is about to
 * press it still does. So `dress` sets everything again, and an `onclick` instead of one more listener.
 */
export function fillList(list, templateId, items, dress = () => {}, keyOf = (item, index) => index) {
  const before = new Map([...list.children].map((row) => [row.dataset.key, row]));
  const rows = items.map((item, index) => {
    const key = String(keyOf(item, index));
    const row = before.get(key) ?? byId(templateId).content.firstElementChild.cloneNode(true);
    row.dataset.key = key;
    fillSlots(row, item);
    dress(row, item);
    return row;
  });
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove();
  rows.forEach((row, index) => { if (list.children[index] !== row) list.insertBefore(row, list.children[index]); });
}

/**
 * Draw the disc that stands for a token, a chain or a wallet.
 * @param {{icon?: string, badge?: string, picture?: string, letter: string, hue: number}} look a symbol of the
 *   sprite or a picture that was checked (`pickPicture`), the letter and colour that show where neither loads, and the
 *   symbol for a corner
 */
export function dressAvatar(avatar, { icon = "", badge = "", picture = "", letter, hue }) {
  avatar.className = `${avatar.className.replace(/ hue-\d+/, "")} hue-${hue}`;
  avatar.replaceChildren(letter);
  if (picture) avatar.append(drawPicture(picture));
  else if (icon) avatar.append(drawIcon(icon));
  if (badge) avatar.append(drawIcon(badge, "corner"));
}

function drawIcon(name, kind = "whole") {
  const drawing = byId("avatar-icon").content.firstElementChild.cloneNode(true);
  drawing.classList.add(kind);
  const use = drawing.firstElementChild;
  const sprite = name.startsWith(MORE) ? use.dataset.more : use.getAttribute("href");
  use.setAttribute("href", `${sprite}#${name}`);
  return drawing;
}

function drawPicture(source) {
  const picture = new Image();
  picture.alt = "";
  picture.addEventListener("error", () => picture.remove());
  picture.src = source;
  return picture;
}

/** Say something to people who listen to the page. */
export function announce(text) {
  const region = byId("announcer");
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 50);
}

/** Move the focus without jumping when the element is in view already. */
export function focusOn(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

/** Put values into a text's placeholders, each once: what comes in is not looked at again. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

/** Fetch a sheet of style that few need. */
export function addSheet(link) {
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", ...link }));
}
