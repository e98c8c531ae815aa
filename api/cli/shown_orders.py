"""How an order is shown to a person: every amount whole, with its symbol, and in the units that the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def write_price(price: Row) -> str:
    """Write a price as people do."""
    digits, decimals = str(int(price["amount"])), int(price["decimals"])
    digits = digits.rjust(decimals + 1, "0")
    cut = len(digits) - decimals
    fraction = digits[cut:].rstrip("0").ljust(min(2, decimals), "0")
    return f"{digits[:cut]}{'.' + fraction if fraction else ''} {price['currency']}"


def summarise(order: Row) -> dict[str, str]:
    """Return what a list shows of an order."""
    reason = order.get("status_reason")
    items = ", ".join(f"{item['quantity']} × {item['title']}" for item in order["line_items"])
    return {
        "payment_order_id": order["payment_order_id"],
        "status": f"{order['payment_order_status']}{f' ({reason})' if reason else ''}",
        "price": write_price(order["order_price"]),
        "created_at": order.get("created_at", ""),
        "items": items if len(items) <= 60 else f"{items[:59]}…",
    }


def describe(order: Row) -> dict[str, str]:
    """Return the head of an order's own page."""
    amounts = {name: _write_amount(order, order.get(name)) for name in ("amount_received", "amount_due")}
    fields = ("env_mode", "transaction_hash", "payment_url", "expires_at")
    payable = "yes" if order.get("payable") else f"no ({order.get('not_payable_reason') or 'not said'})"
    return {**summarise(order), **amounts, "payable": payable, **{name: str(order.get(name) or "-") for name in fields}}


def list_parts(order: Row) -> Iterator[tuple[str, Sequence[str], list[Row]]]:
    """Yield what an order has several of: a title, columns and rows."""
    for title, columns in (
        ("timeline", ("at", "status", "status_reason", "transaction_hash")),
        ("transfers", ("id", "status", "chain_id", "amount", "from", "hash")),
        ("refunds", ("status", "chain_id", "amount", "to", "hash", "note")),
    ):
        rows = order.get(title) or ()
        if rows:
            yield title, columns, [{name: _show_cell(order, row, name) for name in columns} for row in rows]


def _show_cell(order: Row, row: Row, name: str) -> Any:
    if name != "amount":
        return row.get(name)
    settlement = order.get("settlement") or {}
    place = (row.get("chain_id"), str(row.get("token")).lower())
    is_settled = place == (settlement.get("chain_id"), str(settlement.get("token_address")).lower())
    return _write_amount(order, row[name]) if is_settled else _write_units(row)


def _write_units(row: Row) -> str:
    """Write an amount of another token than the merchant is settled in: whole, if the token is listed."""
    from routing_engine.reference import token_registry

    chain_id, token = int(row.get("chain_id") or 0), str(row.get("token"))
    info = token_registry.info_of(chain_id, token)
    if info is None:
        return f"{row['amount']} units of {token}"
    return write_units(row["amount"], info.on(chain_id).decimals, info.symbol)


def _write_amount(order: Row, units: str | None) -> str:
    """Write an amount of the token that the merchant is settled in."""
    settlement = order.get("settlement")
    if units is None or not settlement:
        return units or "-"
    return write_units(units, settlement["token_decimals"], settlement["token_symbol"])


def write_units(units: str, decimals: int, symbol: str) -> str:
    """Write an amount whole, and in the units that the API takes."""
    return f"{write_price({'amount': units, 'decimals': decimals, 'currency': symbol})} ({units} units)"
