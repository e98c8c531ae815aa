// The receipt: drawn when the server says that an order is closed, copied as plain text, printed by the browser.

import { addSheet, byId, fillList, toggle } from "../shared/dom.js";
import { strings } from "../shared/language.js";
import { localiseTimes } from "../shared/pictures.js";

const SAID_MS = 4_000;

export class Receipt {
  #timer = 0;

  /** @param {() => void} onUse the customer copies or prints, and must not be taken away meanwhile */
  constructor(onUse) {
    byId("copy-receipt").addEventListener("click", () => { onUse(); this.#copy(); });
    byId("print-receipt").addEventListener("click", () => { onUse(); window.print(); });
  }

  /** Show what a state says of the money. */
  show({ receipt, amounts }) {
    for (const list of document.querySelectorAll("[data-amounts]")) {
      toggle(list, amounts.length);
      fillRows(list, amounts);
    }
    toggle(byId("receipt"), receipt !== null);
    toggle(byId("receipt-actions"), receipt !== null);
    byId("record").dataset.holds = receipt ? "receipt" : "";
    if (!receipt) return;
    this.#prepareToPrint();
    byId("receipt-title").textContent = receipt.title;
    fillRows(byId("receipt-rows"), receipt.rows);
    localiseTimes();
  }

  /** Fetch how it is printed, which nobody needs before. */
  #prepareToPrint() {
    const { print: href } = byId("record").dataset;
    if (!href || byId("print-style")) return;
    addSheet({ id: "print-style", media: "print", href });
  }

  async #copy() {
    let said = strings.copied;
    try {
      await navigator.clipboard.writeText(plainText());
    } catch {
      said = strings.not_copied; // not allowed, or not to be had where the page is not served securely
    }
    byId("receipt-said").textContent = said;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { byId("receipt-said").textContent = ""; }, SAID_MS);
  }
}

function fillRows(list, rows) {
  fillList(list, "amount-row", rows, (row, item) => {
    row.dataset.name = item.name;
    const cell = row.querySelector("dd");
    const time = item.at ? document.createElement("time") : cell;
    if (item.at) {
      time.dateTime = item.at;
      cell.replaceChildren(time);
    }
    time.textContent = item.text;
  });
}

/** The receipt as it stands on the page, one line for each row. */
function plainText() {
  const rows = [...byId("receipt-rows").children].map((row) => [...row.children].map(textOf).join(": "));
  const transactions = [...document.querySelectorAll(".transaction")].map((row) => (
    `${textOf(row.querySelector("[data-name]"))}: ${textOf(row.querySelector(".mono"))}`));
  const heading = [...byId("pay-heading").children].map(textOf).join(": ");
  return [textOf(byId("receipt-title")), heading, ...rows, ...transactions].join("\n");
}

const textOf = (element) => element.textContent.replace(/\s+/g, " ").trim();
