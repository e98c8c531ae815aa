// Small helpers around the server's HTML. Text goes in as text, never as markup.

export const byId = (id) => document.getElementById(id);

/** Show or hide an element. */
export function toggle(element, isVisible) {
  element.hidden = !isVisible;
}

/** Put values into the elements that have a slot of their name; others stay as they are. */
export function fillSlots(root, values) {
  for (const element of root.querySelectorAll("[data-slot]")) {
    const value = values[element.dataset.slot];
    if (typeof value === "string") element.textContent = value;
  }
}

/** Replace a list's children by one copy of a template for each item. */
export function fillList(list, templateId, items, dress = () => {}) {
  const template = byId(templateId);
  const rows = items.map((item) => {
    const row = template.content.firstElementChild.cloneNode(true);
    if (row.matches("[data-slot]")) row.textContent = item[row.dataset.slot];
    fillSlots(row, item);
    dress(row, item);
    return row;
  });
  list.replaceChildren(...rows);
}

/** Draw the disc that stands for a token or a chain. */
export function dressAvatar(avatar, { letter, hue }) {
  for (const name of [...avatar.classList]) if (name.startsWith("hue-")) avatar.classList.remove(name);
  avatar.classList.add(`hue-${hue}`);
  avatar.textContent = letter;
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
