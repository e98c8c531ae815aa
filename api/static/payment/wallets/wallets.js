// Wallets in this browser: those that announce themselves (EIP-6963), or the one that is just there (EIP-1193).

import { pickPicture } from "../shared/pictures.js";

const WAIT_MS = 300;
const LONGEST_NAME = 24;

const announced = new Map();

window.addEventListener("eip6963:announceProvider", ({ detail }) => {
  if (detail?.info?.uuid && detail.provider) announced.set(detail.info.uuid, detail);
});

/** @returns {Promise<{name: string, id: string, picture: string, provider: object}[]>} */
export async function findWallets() {
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  if (!announced.size && !window.ethereum) await new Promise((resolve) => { setTimeout(resolve, WAIT_MS); });
  const found = [...announced.values()].map(describe);
  if (!found.length && window.ethereum) return [{ name: "", id: "", picture: "", provider: window.ethereum }];
  return found;
}

function describe({ info, provider }) {
  return { name: nameOf(info), id: String(info.rdns), picture: pickPicture(info.icon), provider };
}

/** A wallet names itself, as long and as strangely as it likes. */
function nameOf({ name }) {
  const signs = [...String(name)];
  return signs.length > LONGEST_NAME ? `${signs.slice(0, LONGEST_NAME - 1).join("")}…` : signs.join("");
}
