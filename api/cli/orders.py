"""A merchant's commands for payment links and orders, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any
from urllib.parse import quote

import click

from api.cli.http import ServiceClient, ServiceRefused, load_body, service_options
from api.cli.shown_orders import describe, list_parts, summarise, write_price
from api.cli.support import echo, echo_table
from api.cli.waiting import FINAL, pause, wait_for

COLUMNS = ("payment_order_id", "status", "price", "created_at", "items")
MOST_DECIMALS, MOST_DIGITS = 36, 78
STATUS_WORDS = ("created", "processing", "success", "failed", "expired", "cancelled", "refunded")
STATUSES, AWAITED = click.Choice(STATUS_WORDS), click.Choice([*STATUS_WORDS, FINAL])
REQUIRED: Mapping[str, str] = MappingProxyType(
    {"order_price": "--amount", "line_items": "--item", "success_callback_url": "--success-url"}
)
"""What a link needs, and the options that give it."""
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        **REQUIRED,
        "order_price.currency": "--currency",
        "cancel_callback_url": "--cancel-url",
        "failure_callback_url": "--failure-url",
        "metadata": "--metadata",
        "expires_at": "--expires-at",
        "Idempotency-Key": "--idempotency-key",
    }
)
"""By the property that a refusal names."""


def read_quantity(text: str) -> int:
    """Return how many pieces; where that is left out, the next option stands in its place.

    Raises
    ------
    click.BadParameter
        If it is no number.
    """
    try:
        return int(text)
    except ValueError:
        message = f"Give a title and a quantity, such as --item Tea 1; {text!r} is no quantity"
        raise click.BadParameter(message) from None


@click.group()
def orders() -> None:
    """Look at payment orders, with an API key."""


@orders.command("list")
@click.option("--status", type=STATUSES, multiple=True, help="Only those of this status; may be repeated.")
@click.option(
    "--reason", "status_reason", multiple=True, help="Only with this reason, such as underpaid; may be repeated."
)
@click.option("--metadata", multiple=True, metavar="NAME=VALUE", help="Only those with this entry; may be repeated.")
@click.option("--payer", help="Only those that money of this address came for.")
@click.option("--transaction-hash", help="Only those with this transaction, on any chain.")
@click.option("--created-from", help="Made at this moment or after it, such as 2026-01-31T12:00:00Z.")
@click.option("--created-to", help="Made before.")
@click.option("--updated-from", help="Status changed last at this moment or after it.")
@click.option("--updated-to", help="Status changed last before.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many.")
@click.option("--cursor", help="What the page before named at its end; give the same filters with it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@service_options
def orders_list(url: str, key: str | None, as_json: bool, metadata: Sequence[str], **query: Any) -> None:
    """List the orders of the key's environment, newest first; with several filters those that have all."""
    entries = {f"metadata[{name}]": value for name, value in read_pairs(metadata).items()}
    page = ServiceClient(url, key).get("/api/v1/payment", **query, **entries)
    rows = page["data"] if as_json else [summarise(order) for order in page["data"]]
    echo_table(rows, COLUMNS, as_json=as_json)
    if not rows:
        click.echo("No order of this key's vendor has all of this.", err=True)
    if not rows and query["transaction_hash"]:
        env_mode = ServiceClient(url, key).env_mode
        stray = f"`checkout payments unmatched --env {env_mode}`"
        click.echo(f"If its money is on its chain, it may belong to no order: see {stray}, the operator's.", err=True)
    if page["next_cursor"]:
        click.echo(f"There are more: --cursor {page['next_cursor']}", err=True)


@orders.command("show")
@click.argument("order_id")
@click.option("--wait", type=AWAITED, help="Wait until this is its status, or until all that came is final.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole order as JSON.")
@service_options
def orders_show(url: str, key: str | None, order_id: str, wait: str | None, as_json: bool) -> None:
    """Show the order ORDER_ID: where it stands, what was paid, and what happened when."""
    client, path = ServiceClient(url, key), f"/api/v1/payment/{quote(order_id, safe='')}"
    order = client.get(path) if wait is None else wait_for(client, path, wait, pause)
    if as_json:
        click.echo(json.dumps(order, indent=2))
        return
    echo(describe(order), as_json=False)
    for title, columns, rows in list_parts(order):
        click.echo(f"\n{title}")
        echo_table(rows, columns, as_json=False)


@orders.command("simulate")
@click.argument("order_id")
@click.argument("action")
@click.option("--quote", "quote_id", help="Quote of the order (qt_…): paid from its chain, with its token.")
@click.option("--without-reference", is_flag=True, help="With pay: the payment names no order.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole order as JSON.")
@service_options
def orders_simulate(
    url: str, key: str | None, order_id: str, action: str, quote_id: str | None, without_reference: bool, as_json: bool
) -> None:
    """Let ACTION, such as pay or underpay, happen to the test order ORDER_ID.

    `pay` for an order that is closed rehearses money that comes too late; docs/guide/test-mode.md has all actions.
    """
    body: dict[str, Any] = {"action": action}
    if quote_id is not None:
        body["quote_id"] = quote_id
    if without_reference:
        body["without_reference"] = True
    order = ServiceClient(url, key).post(f"/api/v1/payment/{quote(order_id, safe='')}/simulate", body)
    follow = f"`checkout orders show {order_id}` shows what comes of it"
    click.echo(json.dumps(order, indent=2) if as_json else f"{action} happens to {order_id}; {follow}.")


@click.group()
def links() -> None:
    """Ask customers for money, with an API key."""


@links.command("create")
@click.option("--amount", help="Price, such as 12.50.  [required without --file]")
@click.option("--currency", default="USD", show_default=True, help="Of the price, such as USD or USDC.")
@click.option(
    "--item",
    "items",
    type=(str, read_quantity),
    multiple=True,
    metavar="TITLE QUANTITY",
    help="What is sold; may be repeated.  [required without --file]",
)
@click.option("--success-url", help="Where the customer goes after paying.  [required without --file]")
@click.option("--cancel-url", help="Where the customer goes who gives up; --success-url without it.")
@click.option("--failure-url", help="Where the customer goes when it fails; --success-url without it.")
@click.option("--metadata", multiple=True, metavar="NAME=VALUE", help="Kept with the order; may be repeated.")
@click.option("--expires-at", help="30 minutes to 30 days from now, as YYYY-MM-DDThh:mm:ssZ.")
@click.option("--file", type=click.File(encoding="utf-8"), help="JSON body of POST /api/v1/payment_link; - is stdin.")
@click.option("--idempotency-key", help="The same request with the same key makes one link.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@service_options
def links_create(
    url: str, key: str | None, file: IO[str] | None, idempotency_key: str | None, as_json: bool, **given: Any
) -> None:
    """Make a payment link: of --file, of the other options, or of a file with some of it replaced."""
    client = ServiceClient(url, key)
    body = {"env_mode": client.env_mode, **(load_body(file) if file else {}), **compose_link(**given)}
    if file is None and (missing := [option for name, option in REQUIRED.items() if name not in body]):
        raise click.UsageError(f"Give {', '.join(missing)}, or a --file that has it all.")
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    try:
        made = client.post("/api/v1/payment_link", body, **headers)
    except ServiceRefused as error:
        raise error if file else error.rename(OPTIONS) from None
    # In words, since a price that was meant in other decimals is a million times too small.
    told = {name: made[name] for name in made if name != "order_price"}
    echo(made if as_json else {**told, "price": write_price(body["order_price"])}, as_json)


def compose_link(
    amount: str | None,
    currency: str,
    items: Sequence[tuple[str, int]],
    metadata: Sequence[str],
    expires_at: str | None,
    **urls: str | None,
) -> dict[str, Any]:
    """Compose what is given of a link's body.

    Raises
    ------
    click.BadParameter
        Naming the option that can't be.
    """
    body: dict[str, Any] = {}
    if amount is not None:
        body["order_price"] = parse_price(amount, currency)
    if items:
        body["line_items"] = [{"title": title, "quantity": quantity} for title, quantity in items]
    if metadata:
        body["metadata"] = read_pairs(metadata)
    if expires_at is not None:
        body["expires_at"] = expires_at
    for name in ("success", "cancel", "failure"):
        chosen = urls[f"{name}_url"] or urls["success_url"]
        if chosen is not None:
            body[f"{name}_callback_url"] = chosen
    return body


def read_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Read what --metadata was given, by its name.

    Raises
    ------
    click.BadParameter
        If one is no pair.
    """
    pairs = [each.partition("=") for each in texts]
    if not all(equals for _, equals, _ in pairs):
        raise click.BadParameter("Expected NAME=VALUE.", param_hint="--metadata")
    return {name: value for name, _, value in pairs}


def parse_price(text: str, currency: str) -> dict[str, Any]:
    """Read a price to the last digit, as it was written."""
    whole, point, fraction = text.partition(".")
    digits = whole + fraction
    is_number = digits.isascii() and digits.isdecimal() and bool(whole) and bool(fraction) == bool(point)
    if not is_number or len(fraction) > MOST_DECIMALS or len(digits) > MOST_DIGITS:
        raise click.BadParameter("Expected digits with at most one point, such as 12.50.", param_hint="--amount")
    return {"currency": currency, "amount": str(int(digits)), "decimals": len(fraction)}
