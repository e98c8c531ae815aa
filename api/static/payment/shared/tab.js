// What the browser's tab tells, for who looks at another one meanwhile.

import { byId } from "./dom.js";

/** Show a state's title and icon. */
export function showTab(title, icon) {
  document.title = title;
  const link = byId("tab-icon");
  const url = link.dataset[icon];
  if (link.getAttribute("href") !== url) link.setAttribute("href", url);
}
