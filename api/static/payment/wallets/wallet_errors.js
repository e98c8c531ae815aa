// What a wallet's error means. Wallets agree on few codes, and wrap what their node said into one another's errors.

const DEPTH = 6;
const OF_CODE = new Map([
  [4001, "rejected"], [4100, "locked"], [4200, "unsupported"], [4900, "offline"], [4901, "offline"], [4902, "unknown_chain"],
  [5000, "rejected"], [5740, "unsupported"], [-32601, "unsupported"], [-32002, "busy"],
]);
const OF_WORDS = [
  [/user (rejected|denied|cancell?ed|declined)|rejected by (the )?user/, "rejected"],
  [/unrecogni[sz]ed chain|chain .*(not added|not found)/, "unknown_chain"],
  [/execution reverted|always failing transaction|would revert/, "would_fail"],
  [/insufficient (funds|balance|eth)|gas required exceeds allowance|not enough (funds|balance|gas|eth)|exceeds (the )?balance/, "no_gas"],
  [/already pending|request .*pending/, "busy"],
];

/** Return the kind of an error, or null where nothing known is in it. */
export function kindOf(error) {
  const layers = [...layersOf(error)];
  for (const { code } of layers) if (OF_CODE.has(code)) return OF_CODE.get(code);
  const words = layers.map(({ message }) => String(message ?? "").toLowerCase()).join(" ");
  return OF_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}

/** An error and those within it: in `data`, `data.originalError`, `cause`, or as JSON in its message. */
function* layersOf(error, depth = 0) {
  if (depth > DEPTH || error === null || error === undefined) return;
  if (typeof error === "string") {
    yield { message: error };
    yield* layersOf(parsed(error), depth + 1);
    return;
  }
  if (typeof error !== "object") return;
  yield { code: Number(error.code), message: error.message };
  for (const inner of [error.data, error.originalError, error.cause, error.error]) yield* layersOf(inner, depth + 1);
  yield* layersOf(parsed(error.message), depth + 1);
}

function parsed(text) {
  const start = String(text ?? "").indexOf("{");
  if (start < 0) return null;
  try {
    return JSON.parse(text.slice(start));
  } catch {
    return null;
  }
}
