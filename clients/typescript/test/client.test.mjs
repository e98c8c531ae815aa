// The client without a network: what it asks, what it sends again, what it reads.
// SAMPLES names a file with method, path and a sample answer of each operation, by its name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as checkout from "crosschain-checkout-client";

const SAMPLES = JSON.parse(readFileSync(process.env.SAMPLES, "utf8"));
const URL_ = "https://pay.example";
const [ONE, OTHER] = ["0x" + "12".repeat(20), "0x" + "ab".repeat(20)];
const LINK = {
  line_items: [{ title: "Tea", quantity: 1 }],
  order_price: { currency: "USDC", amount: 10n ** 18n, decimals: 18 },
  env_mode: "test",
  success_callback_url: URL_, cancel_callback_url: URL_, failure_callback_url: URL_,
  metadata: { amount: "12" },
};
const QUOTE = { fromChain: 1, toChain: 10, fromToken: ONE, toToken: OTHER, fromAmount: 10n ** 30n };
const ROUTE = { fromChainId: 1, toChainId: 10, fromToken: ONE, toToken: OTHER, inputAmount: 10n ** 30n };
const FILTER = {
  status: ["success", "refunded"], status_reason: "", env_mode: "test", payer: ONE, transaction_hash: "0x" + "5f".repeat(32),
  metadata: { cart: "7", gift: true, size: 1.5, note: null, "a b&c": "ü=1" },
  created_from: "2026-03-01T00:00:00+01:00", created_to: new Date(0), updated_from: new Date(0), updated_to: new Date(1),
};
const CALLS = {
  createPaymentLink: (c) => c.paymentLinks.create(LINK),
  listPaymentOrders: (c) => c.orders.list({ ...FILTER, limit: 5 }),
  exportPaymentOrders: (c) => c.orders.export(FILTER),
  getPaymentOrder: (c) => c.orders.get("po_1"),
  cancelPaymentOrder: (c) => c.orders.cancel("po_1"),
  refundPaymentOrder: (c) => c.orders.refund("po_1", { amount: 5n }),
  cancelRefund: (c) => c.orders.cancelRefund("po_1", "rf_1"),
  simulatePaymentOrder: (c) => c.orders.simulate("po_1", { action: "pay" }),
  changePaymentOrder: (c) => c.orders.change("po_1", { metadata: { cart: "8" } }),
  listRefunds: (c) =>
    c.refunds.list({ status: ["requested", "sent"], payment_order_id: "po_1", created_to: new Date(0), limit: 5 }),
  exportTransfers: (c) => c.transfers.export({ moved_from: "2026-03-01T00:00:00+01:00", moved_to: new Date(0), env_mode: "test" }),
  listUnmatchedTransfers: (c) => c.transfers.list({ limit: 5 }),
  assignUnmatchedTransfer: (c) => c.transfers.assign("tr_1", { payment_order_id: "po_1" }),
  getRoutes: (c) => c.routes.find(ROUTE, { tokens: "once" }),
  getRouteStatus: (c) => c.routes.follow({ chainId: 1, transactionHash: "0x" + "5f".repeat(32) }),
  getQuote: (c) => c.quotes.get(QUOTE),
  readQuote: (c) => c.quotes.read("qt_1"),
  replayQuote: (c) => c.quotes.replay("qt_1"),
  archiveQuote: (c) => c.quotes.archive("qt_1"),
  listTokens: (c) => c.tokens.list({ chainId: 1, search: "usd" }),
  createWebhookSubscription: (c) => c.webhooks.create({ webhook_url: URL_, env_mode: "test" }),
  listWebhookSubscriptions: (c) => c.webhooks.list(),
  getWebhookSubscription: (c) => c.webhooks.get("ep_1"),
  changeWebhookSubscription: (c) => c.webhooks.change("ep_1", { events: ["payment_refunded"] }),
  deleteWebhookSubscription: (c) => c.webhooks.delete("ep_1"),
  testWebhookSubscription: (c) => c.webhooks.sendTest("ep_1", { type: "payment_failed" }),
  rotateWebhookSecret: (c) => c.webhooks.rotateSecret("ep_1"),
  enableWebhookSubscription: (c) => c.webhooks.enable("ep_1"),
  redeliverMissedEvents: (c) => c.webhooks.redeliverMissed("ep_1", { since: new Date(0) }),
  listWebhookDeliveries: (c) => c.webhooks.listDeliveries("ep_1", 5),
  redeliverWebhookDelivery: (c) => c.webhooks.redeliver("dlv_1"),
  listEvents: (c) => c.events.list({ since: new Date(0), type: "payment_refunded", payment_order_id: "po_1" }),
  getEvent: (c) => c.events.get("evt_1"),
  getBranding: (c) => c.branding.get(),
  updateBranding: (c) => c.branding.update({ display_name: "Tea & Co" }),
  getApiKey: (c) => c.apiKeys.get(),
};

/** A client whose service answers with one outcome after the other; `asked` has the requests. */
function play(...outcomes) {
  const asked = [];
  const fetch = async (url, request) => {
    asked.push({ url: new URL(url), ...request });
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { asked, client: new checkout.CheckoutClient({ baseUrl: `${URL_}/`, apiKey: "sk_test_1", fetch, retries: { firstS: 0 } }) };
}

const answer = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const refuse = (status, headers = {}, path = "") =>
  answer({ message: "No", code: String(status), error: [{ path, message: "Required" }] }, status, { "X-Request-Id": "req_1", ...headers });
const lost = () => new TypeError("fetch failed");
const made = () => answer({ payment_order_id: "po_1", payment_url: URL_ });
const keys = (asked) => asked.map((each) => each.headers["Idempotency-Key"]);

test("answers are written as JSON with their digits", () => {
  assert.equal(checkout.stringify({ due: 10n ** 30n, cart: [1, "2", null] }), `{"due":"1${"0".repeat(30)}","cart":[1,"2",null]}`);
  assert.equal(checkout.stringify({ due: 1n }, 1), '{\n "due": "1"\n}');
});

test("every operation is there", () => {
  assert.deepEqual(Object.keys(CALLS).sort(), Object.keys(SAMPLES).sort());
});

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} asks and reads as the document says`, async () => {
    const { method, path, answer: sample } = SAMPLES[name];
    const { asked, client } = play(typeof sample === "string" ? new Response(sample) : answer("next_cursor" in sample ? { ...sample, next_cursor: null } : sample));
    const found = call(client);
    if (found[Symbol.asyncIterator]) for await (const each of found) assert.equal(typeof each, typeof sample);
    else await found;
    assert.equal(asked.length, 1);
    assert.equal(asked[0].method, method);
    assert.match(asked[0].url.pathname, new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`));
    assert.equal(asked[0].headers["X-Api-Key"], "sk_test_1");
    assert.equal("Idempotency-Key" in asked[0].headers, method === "POST");
    assert.equal(asked[0].redirect, "manual");
  });
}

test("amounts are bigints and exact, and nothing else changes", async () => {
  const sample = structuredClone(SAMPLES.getPaymentOrder.answer);
  Object.assign(sample.order_price, { amount: 2 ** 60, amount_string: String(2n ** 60n + 1n) });
  Object.assign(sample, { amount_due: null, amount_received: "7", metadata: { amount: "12" }, line_items: [
    { title: "Tea", quantity: 1, unit_price: { amount: "9007199254740993", decimals: 2 } }] });
  const order = await play(answer(sample)).client.orders.get("po_1");
  assert.equal(order.order_price.amount, 2n ** 60n + 1n);
  assert.equal(order.order_price.amount_string, String(2n ** 60n + 1n));
  assert.equal(order.line_items[0].unit_price.amount, 9007199254740993n);
  assert.deepEqual([order.amount_due, order.amount_received, order.metadata], [null, 7n, { amount: "12" }]);
  await assert.rejects(play(answer({ ...sample, amount_due: "1.5" })).client.orders.get("po_1"), checkout.UnexpectedAnswer);
});

test("amounts are sent as digits, and one that lost digits is refused", async () => {
  const { asked, client } = play(made());
  await client.paymentLinks.create(LINK);
  assert.equal(JSON.parse(asked[0].body).order_price.amount, "1000000000000000000");
  const lossy = { ...LINK, order_price: { ...LINK.order_price, amount: 10 ** 18 } };
  await assert.rejects(client.paymentLinks.create(lossy), /amount: 1000000000000000000 is beyond 2\^53/);
});

test("a post keeps its key over its retries, and the next has another", async () => {
  const { asked, client } = play(lost(), refuse(503, { "Retry-After": "0" }), refuse(409, { "Retry-After": "0" }), made(), made());
  await client.paymentLinks.create(LINK);
  await client.paymentLinks.create(LINK);
  const [first, second, third, fourth, next] = keys(asked);
  assert.deepEqual([second, third, fourth], [first, first, first]);
  assert.ok(first.length > 30);
  assert.notEqual(next, first);
});

test("it gives up and says with what key to try again", async () => {
  const { asked, client } = play(lost(), lost(), lost(), lost());
  await assert.rejects(client.orders.refund("po_1", {}, { idempotencyKey: "refund-7" }), (error) => {
    assert.ok(error instanceof checkout.ConnectionFailed && error instanceof checkout.CheckoutError);
    assert.equal(error.name, "ConnectionFailed");
    assert.equal(error.idempotencyKey, "refund-7");
    return true;
  });
  assert.deepEqual(keys(asked), ["refund-7", "refund-7", "refund-7", "refund-7"]);
});

for (const [status, kind] of [[400, "InvalidRequest"], [401, "Unauthorized"], [403, "Forbidden"], [404, "NotFound"],
  [409, "Conflict"], [413, "Refused"], [422, "KeyReused"], [500, "ServiceFailed"]]) {
  test(`${status} is ${kind} and not sent again`, async () => {
    const { asked, client } = play(refuse(status, {}, "order_price.amount"));
    await assert.rejects(client.paymentLinks.create(LINK), (error) => {
      assert.equal(error.constructor, checkout[kind]);
      assert.equal(error.message, `${status}: No; order_price.amount: Required (request req_1)`);
      assert.deepEqual([error.status, error.requestId, error.problems[0].path], [status, "req_1", "order_price.amount"]);
      return true;
    });
    assert.equal(asked.length, 1);
  });
}

test("what is no answer of the service is said", async () => {
  for (const odd of [new Response("<html>"), new Response("", { status: 500 }), answer([], 400), answer(null), new Response(null, { status: 302 })]) {
    await assert.rejects(play(odd).client.paymentLinks.create(LINK), checkout.UnexpectedAnswer);
  }
  await assert.rejects(play(refuse(404)).client.routes.find(ROUTE), checkout.NoRoute);
});

test("long waits are the caller's, and a delete is sent again only where nothing was done", async () => {
  await assert.rejects(play(refuse(429, { "Retry-After": "61" })).client.apiKeys.get(), checkout.TooManyRequests);
  await assert.rejects(play(lost()).client.webhooks.delete("ep_1"), checkout.ConnectionFailed);
  await play(refuse(503), answer({ message: "Gone" })).client.webhooks.delete("ep_1");
});

test("a signal ends a call while it waits, and a slow service is an error", async () => {
  const { asked, client } = play(refuse(503, { "Retry-After": "50" }));
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 20);
  await assert.rejects(client.apiKeys.get({ signal: stop.signal }), /enough/);
  assert.equal(asked.length, 1);
  const fetch = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const slow = new checkout.CheckoutClient({ baseUrl: URL_, timeoutMs: 20, fetch, retries: { most: 0 } });
  const alive = setTimeout(() => {}, 5000); // timers of signals keep no process alive
  await assert.rejects(slow.apiKeys.get(), checkout.ConnectionFailed);
  clearTimeout(alive);
});

test("lists go on with the next page until the last", async () => {
  const order = SAMPLES.getPaymentOrder.answer;
  const page = (number) => answer({ data: [{ ...order, payment_order_id: `po_${number}` }], next_cursor: number < 3 ? `po_${number}` : null });
  const { asked, client } = play(page(1), page(2), page(3));
  const found = [];
  for await (const each of client.orders.list({ limit: 1 })) found.push(each.payment_order_id);
  assert.deepEqual(found, ["po_1", "po_2", "po_3"]);
  assert.deepEqual(asked.map((each) => each.url.search), ["?limit=1", "?limit=1&cursor=po_1", "?limit=1&cursor=po_2"]);
});

test("filters are written as the document says", async () => {
  const { asked, client } = play(answer({ data: [], next_cursor: null }), answer({ data: [], next_cursor: null }));
  await client.orders.getPage({ ...FILTER, limit: 5 });
  await client.orders.getPage({ status: undefined, metadata: undefined });
  assert.deepEqual(asked[0].url.searchParams.getAll("status"), ["success", "refunded"]);
  asked[0].url.searchParams.delete("status");
  assert.deepEqual(Object.fromEntries(asked[0].url.searchParams), {
    status_reason: "", env_mode: "test", payer: ONE, transaction_hash: "0x" + "5f".repeat(32), limit: "5",
    "metadata[cart]": "7", "metadata[gift]": "true", "metadata[size]": "1.5", "metadata[note]": "null", "metadata[a b&c]": "ü=1",
    created_from: "2026-03-01T00:00:00+01:00", created_to: "1970-01-01T00:00:00.000Z",
    updated_from: "1970-01-01T00:00:00.000Z", updated_to: "1970-01-01T00:00:00.001Z",
  });
  assert.equal(asked[1].url.search, "");
});

async function collect(lines) {
  const found = [];
  for await (const line of lines) found.push(line);
  return found;
}

const LINES = ['"payment_order_id","metadata"\r\n', '"po_1","ü\u2028"\r\n', '"po_2","a\n', 'b"\r\n'];
const FILE = new TextEncoder().encode(LINES.join(""));

/** An answer that gives its file byte by byte, and then `end`s. */
function stream(end = (controller) => controller.close()) {
  let sent = 0;
  const pull = (controller) => (sent < FILE.length ? controller.enqueue(FILE.slice(sent, ++sent)) : end(controller));
  return { response: new Response(new ReadableStream({ pull }, { highWaterMark: 0 })), count: () => sent };
}

test("lines of a file come whole, after a refusal was waited for", async () => {
  const { asked, client } = play(refuse(429, { "Retry-After": "0" }), stream().response);
  assert.deepEqual(await collect(client.orders.export()), LINES);
  assert.deepEqual(asked.map((each) => each.headers.Accept), ["text/csv", "text/csv"]);
});

test("a line comes before the file ends, and who leaves the loop ends it", async () => {
  const { response, count } = stream();
  const { asked, client } = play(response);
  for await (const line of client.orders.export()) {
    assert.equal(line, LINES[0]);
    assert.ok(count() < FILE.length && !asked[0].signal.aborted);
    break;
  }
  assert.ok(count() < FILE.length && asked[0].signal.aborted);
});

test("a file that is refused, ends too early, or stands still is an error", async () => {
  const read = (...outcomes) => collect(play(...outcomes).client.orders.export());
  await assert.rejects(read(refuse(403)), checkout.Forbidden);
  await assert.rejects(read(stream((controller) => controller.error(new TypeError("terminated"))).response), checkout.ConnectionFailed);
  const hang = async (_, { signal }) => {
    const start = (controller) => signal.addEventListener("abort", () => controller.error(signal.reason));
    return new Response(new ReadableStream({ start }));
  };
  const slow = new checkout.CheckoutClient({ baseUrl: URL_, timeoutMs: 20, fetch: hang, retries: { most: 0 } });
  await assert.rejects(collect(slow.orders.export()), checkout.ConnectionFailed);
  const ended = AbortSignal.abort(new Error("not any more"));
  await assert.rejects(collect(slow.orders.export({}, { signal: ended })), /not any more/);
});

test("what would lead elsewhere is refused", () => {
  const { client } = play();
  for (const id of ["", "..", "a/b", "po_1?x=1", "po_1\n"]) assert.throws(() => client.orders.get(id), /is no id/);
  for (const baseUrl of ["", "pay.example", "ftp://pay.example"]) {
    assert.throws(() => new checkout.CheckoutClient({ baseUrl }), /no address/);
  }
});
