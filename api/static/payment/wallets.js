// Wallets in this browser: those that announce themselves (EIP-6963), or the one that is just there (EIP-1193).

const WAIT_MS = 300;

const announced = new Map();

window.addEventListener("eip6963:announceProvider", ({ detail }) => {
  if (detail?.info?.uuid && detail.provider) announced.set(detail.info.uuid, detail);
});

/** @returns {Promise<{name: string, id: string, provider: object}[]>} */
export async function findWallets() {
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  if (!announced.size && !window.ethereum) await new Promise((resolve) => { setTimeout(resolve, WAIT_MS); });
  const found = [...announced.values()].map(({ info, provider }) => ({ name: String(info.name), id: info.rdns, provider }));
  if (!found.length && window.ethereum) return [{ name: "", id: "", provider: window.ethereum }];
  return found;
}
