// The client against a service: CHECKOUT_URL and CHECKOUT_API_KEY say which.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutClient, InvalidRequest, KeyReused, NoRoute, NotFound, verifyWebhook, WebhookRefused } from "crosschain-checkout-client";

const baseUrl = process.env.CHECKOUT_URL;
const client = new CheckoutClient({ baseUrl, apiKey: process.env.CHECKOUT_API_KEY });
const SHOP = "http://localhost:3000";
const LINK = {
  line_items: [{ title: "Tea", quantity: 2 }],
  order_price: { currency: "USDC", amount: 12_500_000n, decimals: 6 },
  env_mode: "test",
  success_callback_url: SHOP, cancel_callback_url: SHOP, failure_callback_url: SHOP,
};
const [USDC, THERE] = ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"];
const PATIENCE_MS = 60_000;

/** Starts a receiver, and gives its address, a way to wait for its next delivery, and one to end it. */
async function receive() {
  const received = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    received.push({ body: Buffer.concat(parts), headers: request.headers });
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const take = () => waitFor(() => received.shift());
  return { url: `http://127.0.0.1:${server.address().port}/hook`, take, end: () => server.close() };
}

async function waitFor(ask) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) {
    const found = await ask();
    if (found) return found;
  }
  throw new Error("It did not happen in time");
}

test("an order is paid, told of and given back", async () => {
  const inbox = await receive();
  const hook = await client.webhooks.create({ webhook_url: inbox.url, env_mode: "test" });
  const { payment_order_id: id } = await client.paymentLinks.create({ ...LINK, metadata: { cart: "7" } });
  assert.equal((await client.orders.get(id)).amount_due, 12_500_000n);
  await client.orders.simulate(id, { action: "pay" });
  for (let type = ""; type !== "payment_success"; ) {
    const { body, headers } = await inbox.take();
    const received = await verifyWebhook(body, headers, hook.secret);
    await assert.rejects(verifyWebhook(`${body} `, headers, hook.secret), WebhookRefused);
    assert.deepEqual(received.event.data.metadata, { cart: "7" });
    type = received.event.type;
  }
  const order = await waitFor(async () => {
    const found = await client.orders.get(id);
    return found.transfers.every((each) => each.status === "final") && found;
  });
  assert.ok(order.amount_received >= 12_500_000n);
  const refund = () => client.orders.refund(id, { amount: 2_500_000n }, { idempotencyKey: `refund-${id}` });
  assert.deepEqual(await refund(), await refund());
  assert.deepEqual((await client.orders.get(id)).refunds.map((each) => each.amount), [2_500_000n]);
  await assert.rejects(client.orders.refund(id, { amount: 1n }, { idempotencyKey: `refund-${id}` }), KeyReused);
  const heard = [];
  for await (const each of client.events.list({ limit: 2 })) heard.push(each.event.type);
  assert.ok(heard.includes("payment_success"));
  const [first] = (await client.events.getPage({ type: "payment_success", limit: 1 })).data;
  assert.deepEqual(await client.events.get(first.id), first);
  assert.deepEqual((await client.webhooks.change(hook.webhook_id, { events: ["payment_failed"] })).events, ["payment_failed"]);
  assert.deepEqual((await client.webhooks.get(hook.webhook_id)).events, ["payment_failed"]);
  const { secret } = await client.webhooks.rotateSecret(hook.webhook_id);
  const eventId = await client.webhooks.sendTest(hook.webhook_id, { type: "payment_failed" });
  const { body, headers } = await waitFor(async () => {
    const next = await inbox.take();
    return next.headers["webhook-id"] === eventId && next;
  });
  for (const secrets of [secret, hook.secret]) assert.equal((await verifyWebhook(body, headers, secrets)).id, eventId);
  await client.webhooks.delete(hook.webhook_id);
  await assert.rejects(client.webhooks.delete(hook.webhook_id), NotFound);
  inbox.end();
});

test("amounts of any size come back", async () => {
  const price = { currency: "USDC", amount: 2n ** 70n + 1n, decimals: 21 };
  const { payment_order_id: id } = await client.paymentLinks.create({ ...LINK, order_price: price });
  assert.equal((await client.orders.get(id)).order_price.amount, 2n ** 70n + 1n);
  assert.equal((await client.orders.cancel(id)).payment_order_status, "cancelled");
});

test("the same key makes one order, and lists go over pages", async () => {
  const ids = [];
  for (let number = 0; number < 8; number += 1) {
    const options = { idempotencyKey: `typescript-${number % 4}` };
    ids.push((await client.paymentLinks.create(LINK, options)).payment_order_id);
  }
  assert.deepEqual(ids.slice(0, 4), ids.slice(4));
  const listed = [];
  for await (const order of client.orders.list({ limit: 3 })) listed.push(order.payment_order_id);
  assert.deepEqual(listed.filter((each) => ids.includes(each)), ids.slice(0, 4).reverse());
});

test("orders are found by what they have, and exported", async () => {
  const options = { cart: "ö&=[1]", size: 1.5, gift: true };
  const { payment_order_id: id } = await client.paymentLinks.create({ ...LINK, metadata: options });
  const find = async (filter) => (await client.orders.getPage(filter)).data.map((each) => each.payment_order_id);
  const since = new Date(Date.now() - 3_600_000);
  const filter = { metadata: options, status: "created", created_from: since, updated_from: since };
  assert.deepEqual(await find(filter), [id]);
  const before = { created_from: new Date(0), created_to: since };
  for (const other of [{ metadata: { ...options, gift: false } }, before, { payer: THERE.toLowerCase() }]) {
    assert.deepEqual(await find({ ...filter, ...other }), []);
  }
  const lines = [];
  for await (const line of client.orders.export(filter)) lines.push(line);
  assert.equal(lines.length, 2);
  assert.ok(lines[0].startsWith('"payment_order_id",') && lines[1].startsWith(`"${id}","created"`) && lines[1].endsWith("\r\n"));
  await assert.rejects(client.orders.export({ payer: "nobody" }).next(), InvalidRequest);
});

test("transfers that belong to no order", async () => {
  for await (const each of client.transfers.list({ limit: 5 })) assert.equal(typeof each.amount, "bigint");
  await assert.rejects(client.transfers.assign("tr_1", { payment_order_id: "po_1" }), NotFound);
});

test("routes, quotes and tokens need no key", async () => {
  const open = new CheckoutClient({ baseUrl });
  const query = { fromChain: 1, toChain: 10, fromToken: USDC, toToken: THERE };
  const quote = await open.quotes.get({ ...query, fromAmount: 10n ** 9n });
  assert.ok(99n * 10n ** 7n < quote.toAmountMin && quote.toAmountMin <= quote.toAmount);
  assert.deepEqual(await open.quotes.read(quote.quoteId), quote);
  const asked = { fromChainId: 1, toChainId: 10, fromToken: USDC, toToken: THERE, outputAmount: 10n ** 9n };
  const route = await open.routes.find(asked);
  assert.ok(route.outputAmount >= 10n ** 9n && route.steps.every((each) => typeof each.inputAmount === "bigint"));
  const symbols = [];
  for await (const token of open.tokens.list({ chainId: 1, limit: 5 })) symbols.push(token.symbol);
  assert.ok(symbols.includes("USDC"));
  await assert.rejects(open.quotes.get({ ...query, fromAmount: 10n ** 40n }), NoRoute);
});

test("a refusal names the property and the request", async () => {
  await assert.rejects(client.paymentLinks.create({ ...LINK, line_items: [{ title: "", quantity: 0 }] }), (error) => {
    assert.ok(error instanceof InvalidRequest && error.requestId);
    assert.deepEqual(error.problems.map((each) => each.path).sort(), ["line_items.0.quantity", "line_items.0.title"]);
    return true;
  });
});
