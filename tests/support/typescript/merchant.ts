// A merchant's application: it compiles as long as the types that are made of the OpenAPI document fit it.
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./schema";

type Status = components["schemas"]["OrderStatus"];
type Body = webhooks["payment_success"]["post"]["requestBody"]["content"]["application/json"];

const client = createClient<paths>({ baseUrl: "https://pay.example", headers: { "X-Api-Key": "sk_test_…" } });

export async function sell(): Promise<string> {
  const { data, error } = await client.POST("/api/v1/payment_link", {
    params: { header: { "Idempotency-Key": "cart-7" } },
    body: {
      line_items: [{ title: "Shoes", quantity: 1 }],
      order_price: { currency: "USDC", amount: "25000000", decimals: 6 },
      env_mode: "test",
      success_callback_url: "https://shop.example/paid",
      cancel_callback_url: "https://shop.example/cart",
      failure_callback_url: "https://shop.example/failed",
      metadata: { cart: "7" },
    },
  });
  if (error !== undefined) throw new Error(error.error.map((each) => `${each.path}: ${each.message}`).join());
  return data.payment_url;
}

export async function isPaid(order_id: string): Promise<boolean> {
  const { data } = await client.GET("/api/v1/payment/{order_id}", { params: { path: { order_id } } });
  if (data === undefined) return false;
  const status: Status = data.payment_order_status;
  const amount: number = data.order_price.amount;
  const chain: number | undefined = data.settlement?.chain_id;
  const due: string | null = data.amount_due;
  return status === "success" && amount > 0 && chain !== undefined && due === "0";
}

export async function quote(): Promise<string | undefined> {
  const query = { fromChain: 1, toChain: "8453", fromToken: "0x…", toToken: "0x…", fromAmount: "2500000000" };
  const { data } = await client.GET("/api/v1/quote", { params: { query } });
  return data?.toAmountMin;
}

export function read(body: Body): string {
  const event = body.event;
  return event.type === "payment_success" ? event.data.payment_order_id : event.data.status_reason;
}
