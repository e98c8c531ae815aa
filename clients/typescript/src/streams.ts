// Answers that are read as they come, such as files.
import { askPatiently, readRefusal, type CallOptions, type Question, type Received, type Target } from "./calls.js";
import { ConnectionFailed } from "./errors.js";

/** Asks a question and gives its answer as text, piece by piece. */
export type Stream = (question: Question, options?: CallOptions) => AsyncGenerator<string, void, undefined>;

type Wait = <T>(work: Promise<T>) => Promise<T>;

/** Streams answers of a target. `timeoutMs` is for each wait, not for a file as a whole. */
export function makeStream(target: Target): Stream {
  return async function* (question, { signal } = {}) {
    const fail = (cause: unknown) => {
      signal?.throwIfAborted();
      return new ConnectionFailed(`${target.baseUrl} does not answer to the end: ${String(cause)}`, { cause });
    };
    const ask = async (url: string, request: RequestInit) => {
      signal?.throwIfAborted();
      return open(target, url, request, signal).catch(fail);
    };
    const received = await askPatiently(target, question, ask, signal);
    if (received.pieces === undefined) throw readRefusal(question, received);
    try {
      yield* received.pieces;
    } catch (cause) {
      throw fail(cause);
    }
  };
}

/** Asks once; of an answer that is none of an error, the text is still to come. */
async function open(target: Target, url: string, request: RequestInit, signal?: AbortSignal): Promise<Received> {
  const stop = new AbortController();
  const wait: Wait = (work) => {
    const late = () => stop.abort(new DOMException("It took too long", "TimeoutError"));
    const timer = setTimeout(late, target.timeoutMs);
    return work.finally(() => clearTimeout(timer));
  };
  const ends = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const { fetch } = target; // called as a function: browsers refuse it as somebody's method
  const response = await wait(fetch(url, { ...request, signal: ends }));
  const { status, headers } = response;
  if (!response.ok) return { status, headers, text: await wait(response.text()) };
  return { status, headers, text: "", pieces: readPieces(response, wait, stop) };
}

async function* readPieces(response: Response, wait: Wait, stop: AbortController) {
  const text = new TextDecoder();
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await wait(reader.read());
      if (done) break;
      yield text.decode(value, { stream: true });
    }
    yield text.decode();
  } finally {
    stop.abort(); // or the service goes on making the file for nobody
  }
}

/** Whole lines with their ends; only a line feed ends one. */
export async function* splitLines(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun = "";
  for await (const piece of pieces) {
    const lines = (begun + piece).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) yield `${line}\n`;
  }
  if (begun !== "") yield begun;
}
