// A receiver of webhooks with nothing but Node's own library: WEBHOOK_SECRET=whsec_… node receive.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRET = process.env.WEBHOOK_SECRET;
if (!SECRET) {
  console.error("Set WEBHOOK_SECRET to the webhook's secret (whsec_…): without it no delivery can be checked.");
  process.exit(1);
}
const TOLERANCE_S = 300;

// --8<-- [start:verify]
/** Returns the event of a delivery; throws unless the service sent it, just now and just so. */
export function verify(body, headers, secret) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const [id, sent, given] = ["id", "timestamp", "signature"].map((name) => headers[`webhook-${name}`] ?? "");
  if (key.length < 16 || !id || !/^[0-9]+$/.test(sent)) throw new Error("a header is missing, or this is no secret");
  const digest = createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest("base64");
  const right = Buffer.from(`v1,${digest}`);
  // Two secrets sign while one replaces the other: one of the signatures has to be right.
  const signatures = given.split(" ").map((each) => Buffer.from(each));
  if (!signatures.some((each) => each.length === right.length && timingSafeEqual(each, right)))
    throw new Error("no signature is right");
  if (Math.abs(Date.now() / 1000 - Number(sent)) > TOLERANCE_S) throw new Error("it was sent too long ago");
  return JSON.parse(body).event;
}
// --8<-- [end:verify]

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk); // the body as it came, to the byte
  try {
    const { type, data } = verify(Buffer.concat(chunks), request.headers, SECRET);
    console.log(type, data.payment_order_id, data.payment_order_status);
    response.writeHead(204).end();
  } catch (error) {
    console.log(`refused: ${error.message}`);
    response.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
