"""A merchant's commands for payment links and orders, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any

import click

from api.cli.http import ServiceClient, load_body, service_options
from api.cli.support import echo, echo_table

COLUMNS = ("payment_order_id", "status", "price", "created_at", "items")
MOST_DECIMALS, MOST_DIGITS = 36, 78
STATUSES = click.Choice(["created", "processing", "success", "failed", "expired", "cancelled", "refunded"])


@click.group()
def orders() -> None:
    """Look at payment orders, with an API key."""


@orders.command("list")
@click.option("--status", type=STATUSES, help="Only those of one status.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many.")
@click.option("--cursor", help="What the page before named at its end.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@service_options
def orders_list(url: str, key: str | None, as_json: bool, **query: Any) -> None:
    """List the orders of the key's environment, newest first."""
    page = ServiceClient(url, key).get("/api/v1/payment", **query)
    rows = page["data"] if as_json else [_summarise(order) for order in page["data"]]
    echo_table(rows, COLUMNS, as_json=as_json)
    if page["next_cursor"]:
        click.echo(f"There are more: --cursor {page['next_cursor']}", err=True)


@orders.command("show")
@click.argument("order_id")
@click.option("--json", "as_json", is_flag=True, help="Print the whole order as JSON.")
@service_options
def orders_show(url: str, key: str | None, order_id: str, as_json: bool) -> None:
    """Show the order ORDER_ID: where it stands, what was paid, and what happened when."""
    from urllib.parse import quote

    order = ServiceClient(url, key).get(f"/api/v1/payment/{quote(order_id, safe='')}")
    if as_json:
        click.echo(json.dumps(order, indent=2))
        return
    fields = ("env_mode", "amount_received", "amount_due", "transaction_hash", "payment_url", "expires_at")
    echo({**_summarise(order), **{name: str(order.get(name) or "-") for name in fields}}, as_json=False)
    for title, columns in (
        ("timeline", ("at", "status", "status_reason", "transaction_hash")),
        ("transactions", ("timestamp", "chain_id", "hash")),
        ("refunds", ("status", "chain_id", "amount", "to", "hash")),
    ):
        _echo_part(title, order.get(title) or (), columns)


@click.group()
def links() -> None:
    """Ask customers for money, with an API key."""


@links.command("create")
@click.option("--amount", help="Price, such as 12.50.")
@click.option("--currency", default="USD", show_default=True, help="Of the price, such as USD or USDC.")
@click.option("--item", "items", type=(str, int), multiple=True, metavar="TITLE QUANTITY", help="May be repeated.")
@click.option("--success-url", help="Where the customer goes after paying.")
@click.option("--cancel-url", help="Where the customer goes who gives up; --success-url without it.")
@click.option("--failure-url", help="Where the customer goes when it fails; --success-url without it.")
@click.option("--metadata", multiple=True, metavar="NAME=VALUE", help="Kept with the order; may be repeated.")
@click.option("--expires-at", help="Moment with a time zone, such as 2030-01-31T12:00:00Z.")
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
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    echo(client.post("/api/v1/payment_link", body, **headers), as_json)


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
        pairs = [each.partition("=") for each in metadata]
        if not all(equals for _, equals, _ in pairs):
            raise click.BadParameter("Expected NAME=VALUE.", param_hint="--metadata")
        body["metadata"] = {name: value for name, _, value in pairs}
    if expires_at is not None:
        body["expires_at"] = expires_at
    for name in ("success", "cancel", "failure"):
        chosen = urls[f"{name}_url"] or urls["success_url"]
        if chosen is not None:
            body[f"{name}_callback_url"] = chosen
    return body


def parse_price(text: str, currency: str) -> dict[str, Any]:
    """Read a price to the last digit, as it was written."""
    whole, point, fraction = text.partition(".")
    digits = whole + fraction
    is_number = digits.isascii() and digits.isdecimal() and bool(whole) and bool(fraction) == bool(point)
    if not is_number or len(fraction) > MOST_DECIMALS or len(digits) > MOST_DIGITS:
        raise click.BadParameter("Expected digits with at most one point, such as 12.50.", param_hint="--amount")
    return {"currency": currency, "amount": str(int(digits)), "decimals": len(fraction)}


def write_price(price: Mapping[str, Any]) -> str:
    """Write a price as people do."""
    digits = str(price["amount"]).rjust(price["decimals"] + 1, "0")
    cut = len(digits) - price["decimals"]
    fraction = digits[cut:].rstrip("0").ljust(min(2, price["decimals"]), "0")
    return f"{digits[:cut]}{'.' + fraction if fraction else ''} {price['currency']}"


def _summarise(order: Mapping[str, Any]) -> dict[str, str]:
    reason = order.get("status_reason")
    items = ", ".join(f"{item['quantity']} × {item['title']}" for item in order["line_items"])
    return {
        "payment_order_id": order["payment_order_id"],
        "status": f"{order['payment_order_status']}{f' ({reason})' if reason else ''}",
        "price": write_price(order["order_price"]),
        "created_at": order.get("created_at", ""),
        "items": items if len(items) <= 60 else f"{items[:59]}…",
    }


def _echo_part(title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    if rows:
        click.echo(f"\n{title}")
        echo_table([{name: row.get(name) for name in columns} for row in rows], columns, as_json=False)
