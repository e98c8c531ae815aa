// Made from the service's OpenAPI document by `make clients`: change nothing here.
/** What in each answer is an amount: digits, digits in another property, or inside another schema. */
export const SHAPES: Record<string, Record<string, string>> = {
  "Alternative": {
    "steps": "Step",
    "totalFees": "FeeSum",
    "inputAmount": "",
    "inputAmountMax": "",
    "outputAmount": "",
    "outputAmountMin": "",
    "gas": "",
    "legs": "RouteLeg"
  },
  "Event": {
    "data": "EventData"
  },
  "EventData": {
    "order_price": "OrderPrice",
    "amount_received": "",
    "amount_due": "",
    "transactions": "ToldTransaction",
    "refund": "ToldRefund",
    "transfer": "UnmatchedTransfer"
  },
  "EventPage": {
    "data": "ListedEvent"
  },
  "Fee": {
    "amount": ""
  },
  "FeeSum": {
    "amount": ""
  },
  "FollowedTransaction": {
    "deliveries": "RouteDelivery"
  },
  "LegApproval": {
    "amount": ""
  },
  "LineItem": {
    "unit_price": "UnitPrice"
  },
  "ListedEvent": {
    "event": "Event"
  },
  "ListedRefund": {
    "amount": "",
    "amount_sent": ""
  },
  "OrderList": {
    "data": "PaymentOrder"
  },
  "OrderPrice": {
    "amount": "=amount_string"
  },
  "PaymentLink": {
    "order_price": "OrderPrice"
  },
  "PaymentOrder": {
    "line_items": "LineItem",
    "order_price": "OrderPrice",
    "amount_due": "",
    "amount_received": "",
    "settlement": "Settlement",
    "transactions": "Transaction",
    "stranded": "Stranded",
    "transfers": "Transfer",
    "refunds": "Refund"
  },
  "Quote": {
    "toAmount": "",
    "toAmountMin": "",
    "fromAmount": "",
    "inputAmountMax": ""
  },
  "Quoted": {
    "amount": "",
    "amount_max": ""
  },
  "Refund": {
    "amount": "",
    "amount_sent": ""
  },
  "RefundList": {
    "data": "ListedRefund"
  },
  "Route": {
    "steps": "Step",
    "totalFees": "FeeSum",
    "inputAmount": "",
    "inputAmountMax": "",
    "outputAmount": "",
    "outputAmountMin": "",
    "gas": "",
    "legs": "RouteLeg",
    "alternatives": "Alternative"
  },
  "RouteDelivery": {
    "outputAmountMin": "",
    "outputAmount": ""
  },
  "RouteLeg": {
    "inputAmountMax": "",
    "outputAmountMin": "",
    "approvals": "LegApproval"
  },
  "Settlement": {
    "amount": ""
  },
  "Step": {
    "inputAmount": "",
    "outputAmount": "",
    "fees": "Fee"
  },
  "Stranded": {
    "amount": ""
  },
  "StreamMessage": {
    "route": "Route"
  },
  "ToldRefund": {
    "amount": "",
    "amount_sent": ""
  },
  "ToldTransaction": {
    "quoted": "Quoted"
  },
  "Transaction": {
    "quoted": "Quoted"
  },
  "Transfer": {
    "amount": "",
    "amount_left": "",
    "quoted": "Quoted"
  },
  "UnitPrice": {
    "amount": ""
  },
  "UnmatchedTransfer": {
    "amount": ""
  },
  "UnmatchedTransferList": {
    "data": "UnmatchedTransfer"
  },
  "WebhookBody": {
    "event": "Event"
  }
};
