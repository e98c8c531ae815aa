// What callers give wrongly is refused before it is sent: with its name, and without a secret.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CheckoutClient, verifyWebhook } from "crosschain-checkout-client";

const URL_ = "https://pay.example";
const SECRET = "Zm9v".repeat(10);
const [TEST, LIVE] = [`sk_test_${SECRET}`, `sk_live_${SECRET}`];

/** A client that has asked for `asked`. */
function make() {
  const asked = [];
  const fetch = async (url, request) => {
    asked.push(request);
    return new Response(JSON.stringify({ payment_order_id: "po_1", payment_url: URL_ }));
  };
  return { asked, client: new CheckoutClient({ baseUrl: URL_, apiKey: ` ${TEST}\r\n`, fetch }) };
}

/** Holds a refusal to what it has to say, and to keep a secret. */
const says = (pattern) => (error) => {
  assert.ok(error instanceof TypeError);
  assert.match(error.message, pattern);
  assert.doesNotMatch(`${error.stack}${error.cause}`, new RegExp(SECRET));
  return true;
};

test("a key is sent without the end of its line", async () => {
  const { asked, client } = make();
  await client.paymentLinks.create({});
  assert.equal(asked[0].headers["X-Api-Key"], TEST);
});

test("a key that is missing is refused at once, and none is none", () => {
  for (const apiKey of [undefined, null, "", " "]) {
    assert.throws(() => new CheckoutClient({ baseUrl: URL_, apiKey }), says(/^apiKey is empty/));
  }
  new CheckoutClient({ baseUrl: URL_ });
});

test("a key that no header carries is refused and not shown", () => {
  for (const apiKey of [`${TEST}\n${LIVE}`, `${TEST}\0`, `${TEST}é`, `\u201c${TEST}`]) {
    assert.throws(() => new CheckoutClient({ baseUrl: URL_, apiKey }), says(/^apiKey has characters/));
  }
});

test("a live key travels encrypted only, or on this machine", () => {
  for (const baseUrl of ["http://pay.example", "HTTP://10.0.0.1:8000", "http://localhost.pay.example", "http://127.0.0.1.pay.example"]) {
    assert.throws(() => new CheckoutClient({ baseUrl, apiKey: ` ${LIVE}` }), says(/^baseUrl: a live key is sent over https only/));
    new CheckoutClient({ baseUrl, apiKey: TEST });
  }
  for (const baseUrl of [URL_, "http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]"]) {
    new CheckoutClient({ baseUrl, apiKey: LIVE });
  }
});

test("a key in the place of something else is not shown", async () => {
  const { asked, client } = make();
  assert.throws(() => new CheckoutClient({ baseUrl: LIVE, apiKey: URL_ }), says(/^baseUrl: "sk_live_…"/));
  assert.throws(() => client.orders.get(`${TEST}\n`), says(/^orderId: "sk_test_…/));
  await assert.rejects(client.paymentLinks.create({}, { idempotencyKey: `${TEST}\n` }), says(/^idempotencyKey is "sk_test_…/));
  assert.equal(asked.length, 0);
});

test("an idempotency key that no header carries is refused", async () => {
  const { asked, client } = make();
  for (const idempotencyKey of ["", " ", "cart\n7", "Käse-7", "7€", "x".repeat(256), 7, null]) {
    await assert.rejects(client.paymentLinks.create({}, { idempotencyKey }), says(/^idempotencyKey is .*such as the cart's id/s));
  }
  assert.equal(asked.length, 0);
  await client.paymentLinks.create({}, { idempotencyKey: "cart 7/" + "x".repeat(248) });
  assert.equal(asked.length, 1);
});

test("an id that is none is refused with its parameter", () => {
  const { asked, client } = make();
  for (const [act, name] of [
    [() => client.orders.get(undefined), "orderId"],
    [() => client.orders.get(""), "orderId"],
    [() => client.orders.refund(7), "orderId"],
    [() => client.transfers.assign(null, {}), "transferId"],
  ]) {
    assert.throws(act, says(new RegExp(`^${name}: .*is no id`)));
  }
  assert.equal(asked.length, 0);
});

test("a webhook's secret that is missing is refused", async () => {
  for (const secrets of [undefined, null, [undefined], []]) {
    await assert.rejects(verifyWebhook("{}", {}, secrets), says(/^secrets.*whsec_…/));
  }
});
