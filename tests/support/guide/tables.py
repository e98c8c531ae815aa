"""Tables of what a shop can try, what it may be answered, and how much it may ask."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from api.blueprints.repeats import RepeatHeaders
from api.bodies.errors import MESSAGES
from api.bodies.request_body import MAX_BODY_BYTES
from api.config import Config
from api.counting.rate_limits import COSTLY_SHARE
from api.domain.env import EnvMode
from api.domain.events import DEFAULT_TYPES, EventType
from api.domain.orders import DEFAULT_LIFE, LATE_WINDOW, MAX_LIFE, MIN_LIFE
from api.domain.simulation import FITS, Action
from api.net.client import TIMEOUT_S
from api.openapi.refusals import REFUSALS
from api.schemas.fields.plain import MAX_METADATA_BYTES, MAX_METADATA_DEPTH, MAX_METADATA_KEYS
from api.schemas.fields.urls import MAX_URL
from api.schemas.orders import payment_links, search, unmatched_transfers
from api.schemas.routing import tokens
from api.schemas.webhooks import events, subscriptions
from api.services.idempotency import KEPT
from api.services.orders.main_transactions import MOST as MOST_TOLD
from api.services.routing.query import MAX_SLIPPAGE_BPS
from api.services.routing.serializers import VALID_FOR
from api.services.vendors.key_management import MAX_NAMES
from api.services.webhooks.retry_schedule import DELAYS, DISABLE_AFTER, TRIES
from api.services.webhooks.secrets import MOST, OVERLAP
from api.services.webhooks.subscriptions import MAX_SUBSCRIPTIONS
from api.serving.stream import PER_ADDRESS
from tests.support.guide.regions import write_table

SCENARIOS: Mapping[Action, tuple[str, tuple[str, ...]]] = {
    Action.PAY: ("The whole amount due is paid.", ("created", "processing", "success")),
    Action.UNDERPAY: ("Half of it is paid; `pay` afterwards pays the rest.", ("created", "processing underpaid")),
    Action.OVERPAY: (
        "A tenth more than the price is paid.",
        ("created", "processing overpaid", "success overpaid"),
    ),
    Action.PAY_LATE: (
        "The order expires and is paid right after.",
        ("created", "expired expired", "processing paid_late", "success paid_late"),
    ),
    Action.WRONG_TOKEN: ("Another listed token is paid.", ("created", "processing wrong_token")),
    Action.REORG: (
        "The chain loses the payment that is on its way, or one that is made now.",
        ("created", "processing", "created reorged"),
    ),
    Action.BRIDGE_DELAY: (
        "It is paid from another chain, and the bridge takes 15 seconds.",
        ("created", "processing", "success"),
    ),
    Action.BRIDGE_FAIL: (
        "The bridge does not deliver and gives the money back.",
        ("created", "processing", "failed route_failed"),
    ),
    Action.EXPIRE: ("The order expires now.", ("created", "expired expired")),
}
"""What happens, and what the order goes through within a minute."""
REMEDIES: Mapping[str, str] = {
    "400": "Correct what `error` names; the same request is refused again.",
    "401": "Send a valid key as `X-Api-Key`; see [API keys](../api-keys.md).",
    "403": "Use a key of that environment, or with that [scope](../api-keys.md#scopes).",
    "404": "Check the id: another vendor's, and the other environment's, are 404 too. For routes and quotes, "
    "`error` says for each protocol why it can't serve.",
    "409": "Read the order again: it has moved on. With `Retry-After` it passes by itself: the same request is still "
    "being carried out, or what is to be refunded is not final yet.",
    "405": "Use a method that the header `Allow` names.",
    "410": "Ask for a new quote.",
    "413": "Send less; see [limits](limits.md).",
    "415": "Send `Content-Type: application/json`.",
    "422": "Use a new `Idempotency-Key` for a new request.",
    "429": "Wait as long as `Retry-After` says.",
    "500": "Send the same request with the same `Idempotency-Key` again; report the `X-Request-Id` if it stays.",
    "503": "Wait as long as `Retry-After` says, then send the same request again.",
}
TOLD: Mapping[EventType, str] = {
    EventType.PROCESSING: "The order was made, a payment was seen, or its chain took one back.",
    EventType.SUCCESS: "The price is there, with the confirmations that its value asks for.",
    EventType.FAILED: "It failed, expired or was cancelled; money came for a closed order; or its chain has lost a "
    "payment that counted. `payment_order_status` says which.",
    EventType.REFUNDED: "A refund is confirmed; `refund` has it.",
    EventType.UNMATCHED: "Money reached you and belongs to no order; `transfer` has it.",
}


def write_scenarios() -> str:
    """Return what can be made to happen to a test order."""
    rows = []
    for action, (happens, path) in SCENARIOS.items():
        words = " → ".join(" ".join(f"`{word}`" for word in step.split()) for step in path)
        fits = ", ".join(f"`{status}`" for status in sorted(FITS[action]))
        rows.append((f"`{action}`", happens, words, fits))
    return write_table(("action", "what happens", "what the order goes through", "for an order that is"), rows)


def write_errors() -> str:
    """Return every status of an error."""
    rows = []
    for status, (_, description, message, problem) in REFUSALS.items():
        path = f"`{problem[0]}`" if problem else ""
        rows.append((f"`{status}`", f"{description}.", f"{message}", path, REMEDIES[status]))
    rows.append(("`405`", "The address is there, but not for this method.", MESSAGES[405], "", REMEDIES["405"]))
    rows.sort()
    return write_table(("code", "meaning", "a `message`, for example", "its `path`", "what to do"), rows)


def write_events() -> str:
    """Return every type of event."""
    rows = [(f"`{each}`", TOLD[each], "yes" if each in DEFAULT_TYPES else "where it is named") for each in EventType]
    return write_table(("type", "what it tells", "sent"), rows)


def write_retries() -> str:
    """Return when a delivery is tried."""
    head, *rest = (_name_span(each) for each in DELAYS)
    assert head == "0 s"
    return (
        f"An attempt may take {TIMEOUT_S:.0f} seconds. What fails is tried again after {', '.join(rest)}, each counted "
        f"from the one before: {TRIES[EnvMode.LIVE]} attempts in live mode, {TRIES[EnvMode.TEST]} in test mode. A "
        f"webhook that has failed for {DISABLE_AFTER.days} days is disabled."
    )


def write_limits() -> str:
    """Return rates and sizes."""
    settings = {name: field.default for name, field in Config.__dataclass_fields__.items()}
    costly = settings["rate_limit_routing"] // COSTLY_SHARE
    rates = [
        ("requests with a key", f"{settings['rate_limit_key']} a minute, each key", "`RATE_LIMIT_KEY`"),
        ("routes and quotes", f"{settings['rate_limit_routing']} a minute, each caller", "`RATE_LIMIT_ROUTING`"),
        ("replays of quotes; exports", f"{costly} a minute each", f"1/{COSTLY_SHARE} of it"),
        ("requests without a key", f"{settings['rate_limit_keyless']} a minute, each address", "`RATE_LIMIT_KEYLESS`"),
        ("checkout pages", f"{settings['rate_limit_page']} a minute, each address", "`RATE_LIMIT_PAGE`"),
        ("streams of routes", f"{PER_ADDRESS} open, each address", ""),
    ]
    return write_table(("what", "at most", "the operator's setting"), rates)


def write_sizes() -> str:
    """Return how large a request and its parts may be."""
    item = payment_links.NewLineItemSchema._declared_fields
    items = payment_links.NewPaymentLinkSchema._declared_fields["line_items"]
    key = RepeatHeaders._declared_fields["key"]
    pages = (search.MAX_PAGE, subscriptions.MAX_PAGE, unmatched_transfers.MAX_PAGE)
    rows = [
        ("body of a request", f"{MAX_BODY_BYTES // 1024} kB"),
        ("`line_items`", _name_range(items, "item")),
        ("`title` of an item", _name_range(item["title"], "character")),
        ("`description` of an item", _name_range(item["description"], "character")),
        ("`quantity` of an item", f"1 to {payment_links.MAX_QUANTITY:,}"),
        ("`order_price.amount`", "1 to 2^256-1, as an integer or a string of digits"),
        ("`unit_price.amount` of an item", "0 to 2^256-1, as an integer or a string of digits"),
        ("`order_price.decimals`", f"0 to {payment_links.MAX_DECIMALS}"),
        ("URLs", f"{MAX_URL} characters, http or https; https only in live mode"),
        ("`metadata`", f"{MAX_METADATA_KEYS} keys, {MAX_METADATA_BYTES // 1024} kB of JSON, {MAX_METADATA_DEPTH} deep"),
        ("`Idempotency-Key`", f"{_name_range(key, 'character')}, kept for {_name_span(KEPT)}"),
        ("life of a link", f"{_name_span(MIN_LIFE)} to {MAX_LIFE.days} days; {_name_span(DEFAULT_LIFE)} unless told"),
        ("after that a payment counts for", _name_span(LATE_WINDOW)),
        ("life of a quote", _name_span(VALID_FOR)),
        ("`slippageBps`", f"{MAX_SLIPPAGE_BPS}"),
        ("a page of orders; of deliveries; of transfers", "; ".join(map(str, pages))),
        ("a page of events; of tokens", f"{events.MAX_PAGE}; {tokens.MAX_LIMIT}"),
        ("`transactions` of an event", f"{MOST_TOLD}; `transactions_left_out` says how many more there are"),
        ("webhooks in an environment", str(MAX_SUBSCRIPTIONS)),
        ("secrets of a webhook that sign at once", f"{MOST}, each for {_name_span(OVERLAP)} after it was replaced"),
        ("names of API keys in an environment", f"{MAX_NAMES}"),
    ]
    return write_table(("what", "at most"), rows)


def _name_range(field: object, word: str) -> str:
    (length,) = (each for each in field.validators if hasattr(each, "min"))  # type: ignore[attr-defined]
    return f"{length.min} to {length.max} {word}s"


def _name_span(span: timedelta) -> str:
    seconds = round(span.total_seconds())
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds and seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
