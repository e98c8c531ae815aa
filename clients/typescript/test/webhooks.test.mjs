// What is a delivery of the service and what is not. DELIVERIES names a file with deliveries that the Standard Webhooks
// library signed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyWebhook, WebhookRefused, WebhookUnreadable } from "crosschain-checkout-client";

const { body, secret, other, headers, signatures, unreadable, at } = JSON.parse(readFileSync(process.env.DELIVERIES, "utf8"));
const verify = (changes = {}, content = body, secrets = secret, seconds = 0) =>
  verifyWebhook(content, { ...headers, ...changes }, secrets, { now: new Date((at + seconds) * 1000) });

test("a delivery is read, in every form that servers have it in", async () => {
  const { id, event } = await verify();
  assert.equal(id, "evt_1");
  assert.equal(typeof event.data.payment_order_id, "string");
  const now = new Date(at * 1000);
  await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), [secret], { now });
  await verifyWebhook(Buffer.from(body), Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toUpperCase(), [v]])), secret, { now });
});

test("one right signature is enough, with either secret", async () => {
  const both = { "webhook-signature": `v1a,abcd ${signatures.other} ${signatures.secret}` };
  for (const secrets of [secret, other, [other, secret]]) assert.equal((await verify(both, body, secrets)).id, "evt_1");
});

test("five minutes are tolerated, more is not", async () => {
  for (const seconds of [-300, 300]) await verify({}, body, secret, seconds);
  for (const seconds of [-301, 301, 1e9, NaN]) await assert.rejects(verify({}, body, secret, seconds), WebhookRefused);
});

test("what was changed is refused", async () => {
  const changes = [
    { "webhook-id": "evt_2" }, { "webhook-timestamp": String(at + 1) }, { "webhook-timestamp": "nan" }, { "webhook-id": "" },
    { "webhook-signature": "" }, { "webhook-signature": "v1," }, { "webhook-signature": "v1,***" },
    { "webhook-signature": signatures.other }, { "webhook-signature": signatures.secret.replace("v1,", "v2,") },
    { "webhook-signature": signatures.secret.replace("v1,", "") }, { "webhook-id": undefined },
  ];
  for (const change of changes) await assert.rejects(verify(change), WebhookRefused, JSON.stringify(change));
  await assert.rejects(verify({}, JSON.stringify(JSON.parse(body))), /the body untouched/);
});

test("a secret that is none is refused", async () => {
  for (const wrong of ["", "whsec_", "whsec_AAAA", "whsec_é", "sk_test_abc", []]) await assert.rejects(verify({}, body, wrong), TypeError);
});

test("what is signed but unknown is told apart", async () => {
  for (const each of unreadable) await assert.rejects(verify({ "webhook-signature": each.signature }, each.body), WebhookUnreadable, each.body);
});

test("what is no body or no headers is named", async () => {
  await assert.rejects(verifyWebhook(JSON.parse(body), headers, secret), /body is the request's body as it came/);
  await assert.rejects(verifyWebhook(body, null, secret), /headers is the request's headers/);
});
