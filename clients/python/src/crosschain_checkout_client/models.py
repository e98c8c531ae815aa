"""Types of the service's bodies, made from its OpenAPI document by `make clients`: change nothing here.

Answers are dataclasses, bodies of requests are typed dicts. Amounts are `int` in the smallest unit of their token.
Words of a fixed set are literals; a later version of the service may send others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

Action = Literal[
    "pay",
    "underpay",
    "overpay",
    "pay_late",
    "wrong_token",
    "reorg",
    "bridge_delay",
    "bridge_fail",
    "expire",
]
"""What can happen."""


ArrivalStatus = Literal["unknown", "waiting", "overdue", "delivered"]
"""Whether a bridge has delivered what it took in; overdue is what it gives back to whom it came from."""


DeliveryStatus = Literal["pending", "delivered", "failed", "cancelled"]
"""Where a delivery stands."""


EnvMode = Literal["test", "live"]
"""Environment of a key, an order, a subscription or an event."""


EventType = Literal["payment_processing", "payment_success", "payment_failed", "payment_refunded", "payment_unmatched"]
"""What a vendor can be told."""


Evidence = Literal["", "reference", "signature", "bridge", "assigned"]
"""Why a transfer counts for its order."""


LegStatus = Literal[
    "ready",
    "approve_first",
    "after_earlier_leg",
    "no_builder",
    "balance_too_low",
    "would_fail",
    "price_moved",
    "bridge_declines",
    "wallet_rejected",
    "payer_cannot_receive",
    "chains_simulated",
    "chain_not_connected",
    "no_answer",
    "busy",
    "not_tried",
]
"""Whether a leg can be signed, and if not, why."""


NotPayable = Literal[
    "",
    "no_settlement_account",
    "chain_not_connected",
    "chain_not_read",
    "order_closed",
    "refund_under_way",
    "order_expired",
    "nothing_due",
]
"""Why nobody could pay an order."""


OrderStatus = Literal["created", "processing", "success", "failed", "expired", "cancelled", "refunded"]
"""Where an order stands."""


PaymentState = Literal["seen", "disputed", "confirmed", "final", "reorged", "lost"]
"""Where a transfer stands on its chain."""


Purpose = Literal["reset_allowance", "approve", "pay"]
"""What a transaction is for: take back an old allowance, give the exact one, or pay."""


RefundStatus = Literal["requested", "sent", "final", "cancelled"]
"""Where a refund stands: the wallet has to sign some of it, its chain has all of it, its chain keeps it."""


RouteStatus = Literal["unknown", "pending", "mined", "bridging", "delivered", "failed"]
"""Where the transaction of a leg stands."""


Scope = Literal["read", "orders", "refunds", "webhooks"]
"""One of the rights that a key has or lacks."""


StatusReason = Literal[
    "",
    "underpaid",
    "overpaid",
    "paid_late",
    "wrong_token",
    "slippage_exceeded",
    "route_failed",
    "reorged",
    "screening_rejected",
    "expired",
    "paid_after_close",
    "cancelled_by_vendor",
    "partially_refunded",
]
"""Why it stands there; the second axis."""


StreamMessageType = Literal["route", "done", "error"]
"""What a message tells."""


SubscriptionStatus = Literal["active", "disabled"]
"""Whether a subscription gets new events."""


Unmatched = Literal["no_order", "other_payer", "other_recipient"]
"""Why a transfer belongs to no order."""


class Assignment(TypedDict):
    """The order that a transfer is given to."""

    payment_order_id: str
    """Any order of the vendor, open or closed."""


class BrandChange(TypedDict):
    """What is to change; what is not named stays, and empty text takes a choice back."""

    display_name: NotRequired[str]
    """The vendor's own name where it is empty."""
    accent_color: NotRequired[str]
    """`#` and six hexadecimal digits."""
    support: NotRequired[str]
    """An e-mail address, or an https URL."""
    logo: NotRequired[str]
    """PNG, JPEG or WebP of at most 40960 bytes, best square, at least 80 pixels wide."""


class CancelRefund(TypedDict):
    """Which refund is to be cancelled."""

    refund: str
    """Its id, as `refunds` of the order has it."""


class Missed(TypedDict):
    """From where on a subscription missed events."""

    since: str
    """`missed_since` of the answer that enabled it, `next_cursor` of the page before, the id of an event, or a moment
    with a time zone.
    """
    limit: NotRequired[int]
    """At most so many events."""


class NewLineItem(TypedDict):
    """One thing that is sold."""

    title: str
    """The name that the customer sees."""
    quantity: int
    """How many pieces."""
    description: NotRequired[str]
    """Shown below the name."""
    image_url: NotRequired[str]
    """A picture, over https; in test mode over plain http too, which the page does not show."""
    unit_price: NotRequired[NewUnitPrice]
    """Of one piece; where all items have one, they add up to the order's."""


class NewOrderPrice(TypedDict):
    """The total price: `amount / 10**decimals` of the currency."""

    currency: str
    """A token that the merchant is settled in, such as EURC for euros; or `USD`.

    Case does not matter: answers spell it as `GET /v1/tokens` does.
    """
    amount: int
    """In units of ``10**-decimals`` of the currency, 1 to 2^256-1: an integer, or a string of digits."""
    decimals: int
    """Decimal places of the amount; they belong to the price, not to the token."""


class NewPaymentLink(TypedDict):
    """What is sold for how much, and where the customer goes afterwards."""

    line_items: list[NewLineItem]
    """What is sold; the customer sees it."""
    order_price: NewOrderPrice
    """What it costs in total."""
    env_mode: EnvMode
    """The environment, which has to be the key's."""
    success_callback_url: str
    """Where the customer goes once the order is paid; `payment_order_id` and `status` are added to its query."""
    cancel_callback_url: str
    """Where the customer goes who does not want to pay; with the same two parameters."""
    failure_callback_url: str
    """Where the customer goes when the order has failed; with the same two parameters."""
    metadata: NotRequired[dict[str, Any]]
    """Whatever the merchant wants back with the order and its events; at most 16 kB of JSON."""
    expires_at: NotRequired[datetime]
    """30 minutes to 30 days from now; 24 hours from now without it."""


class NewRefund(TypedDict):
    """What is to be sent back; without anything all of the order's only transfer, to whoever paid it."""

    transfer: NotRequired[str]
    """Required where the order has several transfers."""
    amount: NotRequired[int]
    """In units of ``10**-decimals`` of the transfer's own token, in its smallest units without `decimals`; all that is
    left without.
    """
    decimals: NotRequired[int]
    """Decimal places of `amount`, as in a price; those of the token without."""
    to: NotRequired[str]
    """Required where who paid can't be told for certain. In mixed case its checksum (EIP-55) has to be right."""
    note: NotRequired[str]
    """Your own reason or number, which the refund shows again; the customer does not see it."""


class NewSubscription(TypedDict):
    """Where to send the events of one environment."""

    webhook_url: str
    """Where to send them."""
    env_mode: NotRequired[EnvMode]
    """Whose events."""
    events: NotRequired[list[EventType]]
    """Types that are sent; without it the first three. The others come only where they are named."""


class NewUnitPrice(TypedDict):
    """The price of one piece: `amount / 10**decimals` of the order's currency."""

    amount: int
    """In units of ``10**-decimals`` of the currency, 0 to 2^256-1: an integer, or a string of digits."""
    decimals: int
    """Decimal places of the amount; they belong to the price, not to the token."""
    currency: NotRequired[str]
    """The order's currency, also without it."""


class OrderChange(TypedDict):
    """What is to change of an order."""

    metadata: dict[str, Any]
    """All that the merchant wants back with the order from now on; at most 16 kB of JSON."""


class RouteQuery(TypedDict):
    """A question for routes, and for the transactions of a wallet."""

    from_token: str
    """Address of the source token in any case.

    The chain's own coin is `0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`; the zero address means it too.
    """
    to_token: str
    """Address of the destination token."""
    from_chain_id: int
    """Chain id of the source token, as a string or an integer.

    One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum).
    """
    to_chain_id: int
    """Chain id of the destination token.

    One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum).
    """
    input_amount: NotRequired[int]
    """How much of the source token to swap, in its smallest unit; required unless `outputAmount` is given."""
    output_amount: NotRequired[int]
    """Instead of `inputAmount`: how much of the destination token must arrive.

    The route is then the one that needs the least.
    """
    order: NotRequired[Literal["cheapest", "fastest", "balanced"]]
    """`cheapest` (default): most output after gas.

    `fastest`: least time. `balanced`: one minute of waiting weighs as much as 0.01 % of the amount.
    """
    slippage_bps: NotRequired[int]
    """Tolerated loss until execution in 1/10000; decides `outputAmountMin`.

    Default: 30 between stablecoins, else 50.
    """
    max_hops: NotRequired[int]
    """At most how many steps one after the other. Default: 5."""
    max_splits: NotRequired[int]
    """At most how many paths side by side. Default: 5."""
    allow_protocols: NotRequired[list[str]]
    """Use these protocols only."""
    deny_protocols: NotRequired[list[str]]
    """Never use these protocols."""
    alternatives: NotRequired[int]
    """How many further routes to return in `alternatives`. Default: 0."""
    payer: NotRequired[str]
    """Whose wallet executes the route.

    With it and `recipient` each route has `legs`: the transactions, tried out, or the reason why there are none. In
    mixed case its checksum (EIP-55) has to be right.
    """
    recipient: NotRequired[str]
    """Who gets what arrives in the end; may be the payer. Required with `payer`."""


class SampleEvent(TypedDict):
    """What to try a receiver with."""

    type: NotRequired[EventType]
    """What the event tells."""


class Simulate(TypedDict):
    """What shall happen to a test order."""

    action: Action
    """What happens.

    A `reorg` takes the block of this order's payment back, and with it what other test orders were paid in the same
    block; their payments come again within seconds.
    """
    quote_id: NotRequired[str]
    """Quote of this order, for paying as the payer chose."""
    chain_id: NotRequired[int]
    """With `token`: the chain that it is paid from.

    One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum).
    """
    token: NotRequired[str]
    """Of `pay`, `underpay`, `overpay`, `bridge_delay`, `bridge_fail`: the address of the token that it is paid with,
    on `chain_id`; the order is quoted in it first, as its page does.

    `quote_id` names a quote that is there already.
    """
    without_reference: NotRequired[bool]
    """With `pay`: the price reaches you and names no order, as what an exchange sends.

    The order stays as it is, and `payment_unmatched` tells of the transfer.
    """


class SubscriptionChange(TypedDict):
    """What is to change of a subscription; what is not named stays."""

    webhook_url: NotRequired[str]
    """Where to send them from now on."""
    events: NotRequired[list[EventType]]
    """Types that are sent; without it the first three. The others come only where they are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A route from the source token to the destination token."""

    id: str
    """Id of the route."""
    steps: list[Step]
    """In an order in which they can run; paths side by side start at the same token."""
    estimated_time: str
    """Whole seconds for the whole route."""
    total_fees: list[FeeSum]
    """Fees of all steps by currency."""
    input_amount: int
    """What the source is charged."""
    input_amount_max: int
    """With `outputAmount` given: the most that may be charged after slippage."""
    output_amount: int
    """What arrives at the present state of the markets, exactly."""
    output_amount_min: int
    """What arrives at least after slippage."""
    price_impact_bps: int
    """Loss by the amount's own size, in 1/10000."""
    gas: int
    """Gas units of all steps, an estimate."""
    expires_at: datetime
    """Until when it holds: 60 s after the answer."""
    snapshot_id: str
    """Content hash of the market data that the route rests on."""
    optimality_gap_bps: float | None
    """How much better, in 1/10000, any other route of `optimalityGapScope` could be net of gas, proven; over any
    number of parallel paths.

    Null: nothing is proven, as for alternatives.
    """
    optimality_gap_scope: str | None
    """The routes that `optimalityGapBps` speaks of:

    `routes_up_to_4_hops`, over so many markets in series, or `all_flows`, over any number. Null where there is no gap.
    """
    optimality_gap_all_flows_bps: float | None
    """The same against every route, over any number of markets in series.

    Null where it is not known: only where gas counts and costs little beside the amount.
    """
    optimality_gap_reason: str
    """Why nothing is proven; empty where `optimalityGapBps` is a number."""
    legs: list[RouteLeg] | None = None
    """Only with `payer` and `recipient`: what the wallet sends, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key, without its text."""

    key_id: str
    """Id of the key, by which the operator revokes it."""
    name: str
    """What the operator made it for."""
    vendor_id: str
    """Id of the vendor."""
    vendor_name: str
    """Name of the vendor."""
    env_mode: EnvMode
    """Environment in which it works."""
    scopes: list[Scope]
    """What it may do."""
    last4: str
    """The last characters of its text."""
    created_at: datetime
    """When it was made."""
    expires_at: datetime | None
    """When it stops working; null for never."""
    last_used_at: datetime | None
    """When it was used last, to the minute; this use may be in it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a delivery."""

    attempt: int
    """Counts from 1."""
    at: datetime
    """When it began."""
    response_status: int | None
    """HTTP status of the answer; null without one."""
    response_excerpt: str | None
    """How the answer begins; null without one."""
    error: str | None
    """Why there was no answer; null where there was one."""
    duration_ms: int
    """How long it took, in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """What customers see of the vendor; empty is what it has not chosen."""

    env_mode: EnvMode
    """The environment that it is for."""
    display_name: str
    """The name on the page."""
    accent_color: str
    """The colour of the page."""
    support: str
    """Where customers find help."""
    logo_url: str
    """URL of the logo."""
    updated_at: datetime | None
    """When it was last changed; null before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain."""

    chain_id: int
    """The chain's id."""
    name: str
    """Its name."""
    logo_uri: str
    """URL of a logo."""
    native_currency: NativeCurrency
    """What pays for its gas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A subscription after a change."""

    message: str
    """What was done."""
    data: Subscription
    """The subscription."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event for one subscription, and every attempt to deliver it."""

    delivery_id: str
    """Its id."""
    webhook_id: str
    """The subscription."""
    event_id: str
    """The event."""
    event_type: EventType
    """What the event tells."""
    payment_order_id: str | None
    """The order; null for a test event."""
    status: DeliveryStatus
    """Where it stands."""
    created_at: datetime
    """When the event happened."""
    delivered_at: datetime | None
    """When it arrived; null before that."""
    next_attempt_at: datetime | None
    """When it is tried next; null where it is not."""
    attempts: list[Attempt]
    """What was tried, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPage:
    """Deliveries of one subscription, newest first."""

    data: list[Delivery]
    """The deliveries of this page."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """A subscription that is active again."""

    message: str
    """What was done."""
    data: Subscription
    """The subscription."""
    missed_since: datetime | None
    """When the first event was made that it did not get; null if it was not disabled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Body of every answer of 400 and above."""

    message: str
    """What went wrong."""
    code: str
    """HTTP status."""
    error: list[Problem]
    """One entry for each offending property; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a payment order, or a transfer that belongs to none."""

    resource: str
    """Always `event`."""
    type: EventType
    """What happened."""
    created_at: datetime
    """When it happened."""
    env_mode: EnvMode
    """The environment of the order or transfer."""
    data: EventData
    """What it happened to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData:
    """The order or the transfer that an event is about, as it was then."""

    payment_order_id: str
    """Id of the order; empty where the event is about none."""
    metadata: dict[str, Any]
    """As the order had it then."""
    transaction_hash: str
    """The payer's transaction on the chain it paid from, of `paid_after_close` the one that came then; empty before
    there is one.
    """
    payment_order_status: OrderStatus | None
    """The order's status; null where there is no order."""
    status_reason: StatusReason
    """Why it stands there; empty where there is nothing to say."""
    order_price: OrderPrice | None = None
    """What the order costs; missing where the event is about none, and in events that were stored before they had it.
    """
    amount_received: int | None = None
    """What had come, in the settlement token's smallest units; there where `order_price` is."""
    amount_due: int | None = None
    """What was still missing, in the settlement token's smallest units; null without a settlement; there where
    `order_price` is.
    """
    transactions: list[ToldTransaction]
    """Those of the order that weigh most, oldest first: all, or a hundred where it has more; or the transfer's."""
    transactions_left_out: int | None = None
    """Only where there are more: how many. The order itself lists all."""
    refund: ToldRefund | None = None
    """Of `payment_refunded` only: what went back."""
    transfer: UnmatchedTransfer | None = None
    """Of `payment_unmatched` only: what belongs to no order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events in the order in which they became known."""

    data: list[ListedEvent]
    """The events of this page."""
    next_cursor: str | None
    """Send it as `cursor` or `since` to go on from here; null where there is none."""
    has_more: bool
    """Whether there are more by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """One fee of one step."""

    amount: int
    """In the smallest unit of the currency."""
    currency: RouteToken
    """The token that it is paid in."""
    name: str
    """What it is for, such as `lp_fee`, `relayer_fee` or `gas`."""
    included: bool
    """True: `outputAmount` is what remains after it. False: paid on top, as gas is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeSum:
    """One currency's fees together."""

    amount: int
    """In the smallest unit of the currency."""
    currency: RouteToken
    """The token that it is paid in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedTransaction:
    """Where the transaction of a leg stands, as its chain tells it."""

    chain_id: int
    """The chain that was asked."""
    transaction_hash: str
    """The transaction."""
    status: RouteStatus
    """`mined`: it did what it should, on its chain. `bridging`: a bridge has taken in what it is to deliver."""
    message: str
    """Why it is unknown, or has failed; else empty."""
    block_number: int | None
    """Its block; null while it has none."""
    mined_at: datetime | None
    """Its block's time; null while it has none."""
    confirmations: int
    """Blocks from its own to the newest, both counted."""
    is_final: bool
    """Whether its chain calls its block final."""
    deliveries: list[RouteDelivery]
    """What it put into bridges, at most five; empty where that is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSubscription:
    """One subscription."""

    data: Subscription
    """The subscription."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegApproval:
    """An allowance that a leg needs, exactly; `transactions` give it where the payer has not given it yet."""

    token: str
    """The token that is spent."""
    spender: str
    """Who may spend it."""
    amount: int
    """How much, in the token's smallest unit."""
    through: str
    """The Permit2 contract that it is given to, which is asked for it; else empty."""
    until: datetime | None
    """When it ends by itself; null where it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegTransaction:
    """A transaction for the payer's wallet, as wallets take it; it was tried before it was offered."""

    purpose: Purpose
    """What it is for: the allowances come before what they are for."""
    chain_id: int
    """The chain that it is sent on."""
    from_: str
    """The wallet that has to sign it."""
    to: str
    """The contract, or who gets the chain's own coin."""
    value: str
    """The chain's own coin to send along, in hexadecimal."""
    data: str
    """Calldata in hexadecimal."""
    gas_limit: str
    """Gas limit in hexadecimal: what the trial used, and a margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineItem:
    """One thing that is sold, as it was given."""

    title: str
    """The name that the customer sees."""
    quantity: int
    """How many pieces."""
    description: str | None = None
    """Shown below the name."""
    image_url: str | None = None
    """A picture."""
    unit_price: UnitPrice | None = None
    """Of one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEvent:
    """An event with its id."""

    id: str
    """The `webhook-id` of its deliveries."""
    event: Event
    """What webhooks get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRefund:
    """Something that goes back, and of which order."""

    id: str
    """Its id, which cancelling names."""
    transfer: str
    """The transfer that brought it."""
    chain_id: int
    """The chain."""
    token: str
    """The token's address."""
    amount: int
    """What was asked for, in smallest units of this token."""
    amount_sent: int
    """What was really sent of it: by one transaction or several, less or more than that."""
    to: str
    """Who gets it."""
    hash: str
    """The last transaction that sent some of it; empty until the chain has one."""
    timestamp: datetime | None
    """When that was mined; null until then."""
    status: RefundStatus
    """Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled."""
    note: str | None
    """The vendor's own reason or number; null without one."""
    created_at: datetime
    """When it was asked for."""
    transaction: RefundTransaction | None
    """What is to be signed of it still; null once all is sent, or it is cancelled."""
    payment_order_id: str
    """The order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One sentence."""

    message: str
    """What was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCurrency:
    """The coin that pays for gas on a chain."""

    name: str
    """Its name."""
    symbol: str
    """Its symbol."""
    decimals: int
    """Its decimal places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderList:
    """A page of orders, newest first."""

    data: list[PaymentOrder]
    """The orders."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPrice:
    """The total price, as it was given."""

    currency: str
    """A token that the merchant is settled in, such as EURC for euros; or `USD`.

    Case does not matter: answers spell it as `GET /v1/tokens` does.
    """
    amount: int
    """In units of ``10**-decimals`` of the currency; up to 2^256-1."""
    decimals: int
    """Decimal places of the amount; they belong to the price, not to the token."""
    amount_string: int
    """The amount again, for readers that lose digits past 2^53."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentLink:
    """A payment link; the first answer to a request, which a version before gave and a repetition gets, is shorter."""

    payment_order_id: str
    """Id of the new order."""
    payment_url: str
    """Where to send the customer."""
    expires_at: datetime | None = None
    """Until when the customer may pay."""
    order_price: OrderPrice | None = None
    """What it costs: compare it with your own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentOrder:
    """A payment order."""

    payment_order_id: str
    """Its id."""
    payment_order_status: OrderStatus
    """Where it stands."""
    env_mode: EnvMode
    """Its environment."""
    success_callback_url: str
    """Where the customer goes once the order is paid; `payment_order_id` and `status` are added to its query."""
    cancel_callback_url: str
    """Where the customer goes who does not want to pay; with the same two parameters."""
    failure_callback_url: str
    """Where the customer goes when the order has failed; with the same two parameters."""
    line_items: list[LineItem]
    """What is sold."""
    order_price: OrderPrice
    """What it costs in total."""
    transaction_hash: str
    """The payer's transaction on the chain it paid from; empty before there is one."""
    metadata: dict[str, Any]
    """As it was given with the link, or put in its place since."""
    status_reason: StatusReason
    """Why it stands there; empty where there is nothing to say."""
    payment_url: str
    """Where the customer pays."""
    payable: bool
    """Whether somebody may pay it as it stands now."""
    not_payable_reason: NotPayable
    """Why nobody may; empty where somebody may."""
    amount_due: int | None
    """What is still missing, in the settlement token's smallest units; null without a settlement."""
    amount_received: int
    """What came, in the settlement token's smallest units."""
    settlement: Settlement | None
    """Where and in what the merchant receives; null where it has no account for that."""
    transactions: list[Transaction]
    """Each once, oldest first."""
    stranded: list[Stranded]
    """Payments that a bridge could not deliver."""
    transfers: list[Transfer]
    """What reached the merchant, whichever token it is."""
    refunds: list[Refund]
    """What goes back, oldest first."""
    timeline: list[Timeline]
    """Every change, oldest first."""
    expires_at: datetime
    """Until when the customer may pay."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When its status, or what moved for it, last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One property of a request and what is wrong with it."""

    path: str
    """Dotted path of the property or header; empty for the request as a whole."""
    message: str
    """What is wrong with it, or how to put it right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a swap gives at the current market rate, held for 60 seconds."""

    to_amount: int
    """Smallest unit of the destination token."""
    to_amount_min: int
    """What arrives at least after slippage; rounded down."""
    to_token: str
    """The destination token."""
    to_chain: str
    """Chain id of the destination token."""
    from_token: str
    """The source token."""
    from_amount: int
    """Smallest unit of the source token."""
    from_chain: str
    """Chain id of the source token."""
    input_amount_max: int | None = None
    """With `toAmount` only: what is spent at most, after slippage; rounded up."""
    quote_id: str
    """Id of the quote."""
    expires_at: datetime
    """Until when it holds: 60 s after the answer."""
    incomplete_reason: str
    """Why the search ended before it had looked at all that may be better, as for an amount far beyond what markets
    hold; empty where it ended by itself.

    Amounts are exact either way.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteArchive:
    """A quote with all that it rests on; `docs/formats.md` describes the file."""

    format: str
    """Always `routing-engine-archive`."""
    version: int
    """Of the format."""
    engine: str
    """Version of the engine that answered."""
    search: str
    """Which search was asked."""
    request: dict[str, Any]
    """Every field of the request to the engine."""
    answer: dict[str, Any]
    """Routes, amounts and certificates."""
    snapshot: dict[str, Any]
    """The market, in the engine's own format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """What a payer was quoted for something that came: what left the wallet before a swap, no chain is asked."""

    chain_id: int
    """The chain that it was to be paid from."""
    token: str
    """The token that it was to be paid with."""
    symbol: str
    """The symbol of this token."""
    decimals: int
    """How many decimal places it has."""
    amount: int
    """What it was to take at the rate of the quote, in smallest units of this token."""
    amount_max: int
    """The most that the transaction that the wallet was given takes of it."""
    hash: str
    """The payer's transaction, on `chain_id`: this one a chain has shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivered:
    """What is sent of what was missed."""

    message: str
    """What was done."""
    data: RedeliveredPage
    """The events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedeliveredPage:
    """Events that are on their way again, oldest first."""

    event_ids: list[str]
    """Their ids."""
    next_cursor: str
    """Send it as `since` for the next page."""
    has_more: bool
    """Whether there is a next page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivery:
    """A delivery that is on its way again."""

    message: str
    """What was done."""
    data: Delivery
    """The delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Something that goes back."""

    id: str
    """Its id, which cancelling names."""
    transfer: str
    """The transfer that brought it."""
    chain_id: int
    """The chain."""
    token: str
    """The token's address."""
    amount: int
    """What was asked for, in smallest units of this token."""
    amount_sent: int
    """What was really sent of it: by one transaction or several, less or more than that."""
    to: str
    """Who gets it."""
    hash: str
    """The last transaction that sent some of it; empty until the chain has one."""
    timestamp: datetime | None
    """When that was mined; null until then."""
    status: RefundStatus
    """Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled."""
    note: str | None
    """The vendor's own reason or number; null without one."""
    created_at: datetime
    """When it was asked for."""
    transaction: RefundTransaction | None
    """What is to be signed of it still; null once all is sent, or it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundList:
    """A page of refunds, newest first."""

    data: list[ListedRefund]
    """The refunds."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundTransaction:
    """A transaction for the wallet at the settlement address, as wallets take it."""

    chain_id: int
    """The chain."""
    from_: str
    """The wallet that has to sign it."""
    to: str
    """The token's contract."""
    value: str
    """The chain's own coin to send along, in hexadecimal."""
    data: str
    """Calldata in hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A subscription just made, or with a new secret."""

    message: str
    """What was done."""
    data: SecretSubscription
    """The subscription."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The best route."""

    id: str
    """Id of the route."""
    steps: list[Step]
    """In an order in which they can run; paths side by side start at the same token."""
    estimated_time: str
    """Whole seconds for the whole route."""
    total_fees: list[FeeSum]
    """Fees of all steps by currency."""
    input_amount: int
    """What the source is charged."""
    input_amount_max: int
    """With `outputAmount` given: the most that may be charged after slippage."""
    output_amount: int
    """What arrives at the present state of the markets, exactly."""
    output_amount_min: int
    """What arrives at least after slippage."""
    price_impact_bps: int
    """Loss by the amount's own size, in 1/10000."""
    gas: int
    """Gas units of all steps, an estimate."""
    expires_at: datetime
    """Until when it holds: 60 s after the answer."""
    snapshot_id: str
    """Content hash of the market data that the route rests on."""
    optimality_gap_bps: float | None
    """How much better, in 1/10000, any other route of `optimalityGapScope` could be net of gas, proven; over any
    number of parallel paths.

    Null: nothing is proven, as for alternatives.
    """
    optimality_gap_scope: str | None
    """The routes that `optimalityGapBps` speaks of:

    `routes_up_to_4_hops`, over so many markets in series, or `all_flows`, over any number. Null where there is no gap.
    """
    optimality_gap_all_flows_bps: float | None
    """The same against every route, over any number of markets in series.

    Null where it is not known: only where gas counts and costs little beside the amount.
    """
    optimality_gap_reason: str
    """Why nothing is proven; empty where `optimalityGapBps` is a number."""
    legs: list[RouteLeg] | None = None
    """Only with `payer` and `recipient`: what the wallet sends, in order."""
    alternatives: list[Alternative] | None = None
    """Further routes; only where they were asked for."""
    incomplete_reason: str
    """Why the search ended before it had looked at all that may be better, as for an amount far beyond what markets
    hold; empty where it ended by itself.

    Amounts are exact either way.
    """
    tokens: dict[str, Token] | None = None
    """Only with `tokens=once`: every token of the answer by its `key`."""
    unavailable: list[Unavailable] | None = None
    """Sources of rates that this answer does without; only where there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDelivery:
    """What a bridge took in, and what it delivered for it."""

    bridge: str
    """The bridge."""
    status: ArrivalStatus
    """Whether it has arrived."""
    message: str
    """Why that is not known, or what follows; else empty."""
    chain_id: int | None
    """Where it arrives; null where nobody can tell."""
    token: str
    """What arrives; empty where nobody can tell."""
    recipient: str
    """Who gets it; empty where nobody can tell."""
    output_amount_min: int
    """What the bridge has to deliver, smallest unit; 0 where nobody can tell."""
    output_amount: int | None
    """What it delivered; null until then."""
    transaction_hash: str
    """The delivery; empty until then."""
    fill_deadline: datetime | None
    """Until when it delivers; null where there is no such moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteLeg:
    """A part of a route that one transaction does, beside those that give allowances."""

    steps: list[int]
    """The route's steps that it does, counted from 0."""
    status: LegStatus
    """`ready`: sign `transactions` in their order. Else why not."""
    message: str
    """Why it is not ready, and what helps; else empty."""
    from_chain_id: int
    """The chain that it is sent on."""
    to_chain_id: int
    """The chain that its output arrives on."""
    from_token: str
    """What it spends."""
    to_token: str
    """What it gives."""
    sender: str
    """Whose wallet signs it: the payer."""
    recipient: str
    """Who gets what it gives: the recipient, or the payer where another leg follows."""
    input_amount_max: int
    """The most that it spends, smallest unit of `fromToken`."""
    output_amount_min: int
    """The least that it gives, smallest unit of `toToken`; its contracts make sure."""
    slippage_bps: int
    """The tolerance that the two are counted with, in 1/10000."""
    approvals: list[LegApproval]
    """The allowances that it needs; none for the coin."""
    transactions: list[LegTransaction]
    """What was tried, in order; empty where nothing was."""
    valid_until: datetime
    """Ask for the route again if it is not signed by then."""
    deadline: datetime | None
    """Its contracts refuse it from then on; null where they take it at any time."""
    fill_deadline: datetime | None
    """Until when a bridge delivers; null where there is no such moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteToken:
    """A token in a route: as in the list of tokens, or its key alone with `tokens=once`."""

    symbol: str | None = None
    """Its symbol."""
    decimals: int | None = None
    """Its decimal places."""
    name: str | None = None
    """Its name."""
    logo_uri: str | None = None
    """URL of a logo; empty for a token that is not a listed one."""
    chain_to_address: dict[str, str] | None = None
    """Address on each chain, by chain id, in the mixed case of EIP-55."""
    chains: list[Chain] | None = None
    """The chains that it is on."""
    tags: list[str] | None = None
    """Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, `yield_bearing`.

    A bridged token is another token than the one it stands for.
    """
    key: str | None = None
    """Only with `tokens=once`, and then alone: the token's key in `tokens` of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSubscription:
    """A subscription with its secret, this once."""

    webhook_id: str
    """Its id."""
    webhook_url: str
    """Where its events go."""
    env_mode: EnvMode
    """The environment whose events it gets."""
    events: list[EventType]
    """Types of events that it gets."""
    status: SubscriptionStatus
    """Whether it gets new events."""
    disabled_reason: str | None
    """Why it does not; null while it does."""
    failing_since: datetime | None
    """When the first attempt failed since the last success; null where none has."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it last changed."""
    secret: str = field(repr=False)
    """What signs its deliveries, by Standard Webhooks; shown this once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEvent:
    """An event that is on its way."""

    event_id: str
    """Its id, the `webhook-id` of its deliveries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTest:
    """A test event that is on its way."""

    message: str
    """What was done."""
    data: SentEvent
    """The event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Where and in what the merchant receives."""

    chain_id: int
    """The chain."""
    token_address: str
    """The token."""
    token_symbol: str
    """Its symbol."""
    token_decimals: int
    """Its decimal places."""
    address: str
    """The merchant's address."""
    amount: int
    """The whole price in the token's smallest units."""
    rounded_up: bool
    """Whether the price was finer than the token's smallest unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one protocol does."""

    is_firm: bool | None = None
    """True where the bridge has just confirmed these amounts; only in streams for a wallet."""
    protocol: str
    """The bridge or exchange that does it."""
    from_token: RouteToken
    """What it takes."""
    to_token: RouteToken
    """What it gives."""
    from_chain_id: int
    """The chain that it begins on."""
    to_chain_id: int
    """The chain that it ends on."""
    input_amount: int
    """Smallest unit of `fromToken`."""
    output_amount: int
    """Smallest unit of `toToken`."""
    estimated_time: str
    """Whole seconds; a step in the same transaction as the one before adds none."""
    fees: list[Fee]
    """What it costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranded:
    """A payment that a bridge took in and could not deliver."""

    chain_id: int
    """Where the money is."""
    token_address: str
    """Which token it is."""
    amount: int
    """How much, in its smallest units."""
    bridge: str
    """Which bridge has it."""
    deposit_hash: str
    """The transaction that gave it to the bridge."""
    owner: str
    """Who gets it back."""
    refund_hash: str
    """The transaction that gave it back; empty until then."""
    next_step: str
    """What happens now, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMessage:
    """One message of the stream of routes; `type` says which of the other properties it has."""

    type: StreamMessageType
    """What the message tells."""
    seq: int | None = None
    """Of a `route`: counts from 0; each is better than the one before, or firmer."""
    route: Route | None = None
    """Of a `route`."""
    best: str | None = None
    """Of `done`: the id of the best route."""
    unavailable: list[Unavailable] | None = None
    """Of `done`: sources that could not be asked."""
    message: str | None = None
    """Of an `error`, as in the error body."""
    code: str | None = None
    """Of an `error`, as in the error body."""
    error: list[Problem] | None = None
    """Of an `error`, as in the error body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription, without its secret."""

    webhook_id: str
    """Its id."""
    webhook_url: str
    """Where its events go."""
    env_mode: EnvMode
    """The environment whose events it gets."""
    events: list[EventType]
    """Types of events that it gets."""
    status: SubscriptionStatus
    """Whether it gets new events."""
    disabled_reason: str | None
    """Why it does not; null while it does."""
    failing_since: datetime | None
    """When the first attempt failed since the last success; null where none has."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionList:
    """All subscriptions of one environment."""

    data: list[Subscription]
    """The subscriptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One change of the order."""

    status: OrderStatus
    """The status since then."""
    status_reason: StatusReason
    """Why; empty where there is nothing to say."""
    at: datetime
    """When it changed."""
    transaction_hash: str
    """The transaction behind the change: the payer's, a refund's where money went back, of `paid_after_close` the one
    that came then; empty before there was one.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, on all of its chains."""

    symbol: str
    """Its symbol."""
    decimals: int
    """Its decimal places."""
    name: str
    """Its name."""
    logo_uri: str
    """URL of a logo; empty for a token that is not a listed one."""
    chain_to_address: dict[str, str]
    """Address on each chain, by chain id, in the mixed case of EIP-55."""
    chains: list[Chain]
    """The chains that it is on."""
    tags: list[str]
    """Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, `yield_bearing`.

    A bridged token is another token than the one it stands for.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """A page of the list of tokens."""

    tokens: list[Token]
    """The tokens of this page."""
    chains: list[Chain]
    """All chains that are supported."""
    updated_at: datetime
    """When the market last changed."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRefund:
    """Something that went back, as an event told of it; one that was stored before lacks what came later."""

    id: str | None = None
    """Its id, which cancelling names."""
    transfer: str
    """The transfer that brought it."""
    chain_id: int
    """The chain."""
    token: str
    """The token's address."""
    amount: int
    """What was asked for, in smallest units of this token."""
    amount_sent: int | None = None
    """What was really sent of it: by one transaction or several, less or more than that."""
    to: str
    """Who gets it."""
    hash: str
    """The last transaction that sent some of it; empty until the chain has one."""
    timestamp: datetime | None
    """When that was mined; null until then."""
    status: RefundStatus
    """Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled."""
    note: str | None = None
    """The vendor's own reason or number; null without one."""
    created_at: datetime | None = None
    """When it was asked for."""
    transaction: RefundTransaction | None
    """What is to be signed of it still; null once all is sent, or it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTransaction:
    """One of them, as an event told of it; one that was stored before lacks what came later."""

    chain_id: int
    """Its chain."""
    hash: str
    """Its hash."""
    timestamp: datetime
    """When its block was made."""
    quoted: Quoted | None = None
    """What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what
    came.

    It is no proof of what left the wallet; null where no quote is known, and for what a bridge delivered: that has it
    beside the deposit.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction that belongs to the order."""

    chain_id: int
    """Its chain."""
    hash: str
    """Its hash."""
    timestamp: datetime
    """When its block was made."""
    quoted: Quoted | None
    """What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what
    came.

    It is no proof of what left the wallet; null where no quote is known, and for what a bridge delivered: that has it
    beside the deposit.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Something that reached the merchant for the order, whichever token it is."""

    id: str
    """What `transfer` of a refund names."""
    chain_id: int
    """The chain."""
    hash: str
    """The transaction."""
    timestamp: datetime
    """When it was mined."""
    token: str
    """The token's address."""
    amount: int
    """Smallest units of this token."""
    amount_left: int
    """What no refund was asked for yet."""
    from_: str
    """Whose money it was; empty where that can't be told."""
    quoted: Quoted | None
    """What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what
    came.

    It is no proof of what left the wallet; null where no quote is known.
    """
    evidence: Evidence
    """Why it counts."""
    status: PaymentState
    """How sure it is; only what is `final` can be sent back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """A source of rates that could not be asked."""

    protocol: str
    """Its name."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPrice:
    """The price of one piece, as it was given."""

    amount: int
    """In units of ``10**-decimals`` of the currency."""
    decimals: int
    """Decimal places of the amount; they belong to the price, not to the token."""
    currency: str | None = None
    """The order's currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedTransfer:
    """A transfer that reached the vendor and counts for no order."""

    id: str
    """What it is assigned by."""
    env_mode: EnvMode
    """The environment of the address that it reached."""
    chain_id: int
    """Where it arrived."""
    transaction_hash: str
    """The transaction that brought it."""
    timestamp: datetime
    """When it was mined."""
    token: str
    """The token's address."""
    token_symbol: str
    """Empty for a token that is not listed."""
    token_decimals: int | None
    """Null for a token that is not listed."""
    amount: int
    """Smallest units of this token."""
    from_: str
    """Whose money it was; empty where that can't be told."""
    to: str
    """The vendor's address that it reached."""
    status: PaymentState
    """How sure it is that it stays on its chain."""
    reason: Unmatched
    """Why it counts for no order."""
    named_order_id: str | None
    """The vendor's order that the transaction names; null without one."""
    is_bridged: bool
    """Whether a bridge delivered it: then it goes to its deposit's order by itself once that deposit is known.

    Assign it only if that does not happen.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedTransferList:
    """A page of transfers, newest first."""

    data: list[UnmatchedTransfer]
    """The transfers."""
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookBody:
    """What a webhook gets."""

    event: Event
    """The event."""
