"""A quote for one order, as a value and as the text that is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from adapters.transactions.base import PlannedHop
from routing_engine import Hop, Token

AMOUNTS = ("amount_in", "amount_in_max", "amount_out", "coin_needed")
PARTS = ("steps", "fees", "costs")
MOMENTS = ("created_at", "expires_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderQuote:
    """What paying an order in one token takes.

    Parameters
    ----------
    quote_id, order_id : str
        The quote holds for this order only.
    chain_id, token_address, token_symbol, token_decimals : int or str
        What the customer pays with; the address in lower case.
    amount_in : int
        What it takes at the present rate, smallest units of that token.
    amount_in_max : int
        The most that it may take after slippage: `amount_in` and the tolerance, rounded up.
    amount_out : int
        What arrives, smallest units of the settlement token: just what is due.
    settlement_chain_id, settlement_token_address : int and str
        What the merchant receives.
    steps : tuple of mapping
        The route's steps in the interface's shape; empty for a transfer of the settlement token itself.
    fees : tuple of mapping
        The interface's `totalFees`: amount and currency of each, gas among them.
    total, coin_needed, costs : int or None, int, and tuple of mapping
        What it costs in all, and what it needs of the chain's coin; see `Costs`.
    gas : int
        Gas units of all steps.
    fill_time_s : int
        Seconds from the payment's sending until the merchant has it.
    price_impact_bps : int
        Loss by the amount's own size.
    snapshot_id : str
        Content hash of the market data; empty where no route was needed.
    hops : tuple of PlannedHop
        What the paying transaction does, for orders on real chains; empty for a transfer, and for simulated orders.
    """

    quote_id: str
    order_id: str
    chain_id: int
    token_address: str
    token_symbol: str
    token_decimals: int
    amount_in: int
    amount_in_max: int
    amount_out: int
    settlement_chain_id: int
    settlement_token_address: str
    steps: tuple[Mapping[str, Any], ...] = ()
    fees: tuple[Mapping[str, Any], ...] = ()
    total: int | None = None
    coin_needed: int = 0
    costs: tuple[Mapping[str, Any], ...] = ()
    gas: int = 0
    fill_time_s: int
    price_impact_bps: int = 0
    snapshot_id: str = ""
    hops: tuple[PlannedHop, ...] = ()
    created_at: datetime
    expires_at: datetime

    @property
    def is_direct(self) -> bool:
        """Whether the customer simply transfers the settlement token."""
        return not self.steps

    def to_body(self) -> dict[str, Any]:
        """Return JSON without numbers that a double would spoil."""
        body = asdict(self)
        return (
            body
            | {name: str(body[name]) for name in AMOUNTS}
            | {"total": None if self.total is None else str(self.total)}
            | {name: body[name].isoformat() for name in MOMENTS}
            | {name: list(body[name]) for name in PARTS}
            | {"hops": [_write_hop(planned) for planned in self.hops]}
        )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> OrderQuote:
        """Inverse of `to_body`."""
        amounts = {name: int(body[name]) for name in AMOUNTS}
        moments = {name: datetime.fromisoformat(body[name]) for name in MOMENTS}
        parts = {name: tuple(body[name]) for name in PARTS}
        total = None if body["total"] is None else int(body["total"])
        hops = tuple(_read_hop(each) for each in body.get("hops", ()))
        plain = {field.name: body[field.name] for field in fields(cls) if field.name in body}
        return cls(**{**plain, **amounts, **moments, **parts, "total": total, "hops": hops})


def _write_hop(planned: PlannedHop) -> dict[str, Any]:
    hop = planned.hop
    return {
        "market_id": hop.market_id,
        "protocol": hop.protocol,
        "token_in": _write_token(hop.token_in),
        "token_out": _write_token(hop.token_out),
        "amount_in": str(hop.amount_in),
        "amount_out": str(hop.amount_out),
        "fee_pips": planned.fee_pips,
        "tick_spacing": planned.tick_spacing,
    }


def _read_hop(body: Mapping[str, Any]) -> PlannedHop:
    hop = Hop(
        market_id=body["market_id"],
        protocol=body["protocol"],
        token_in=Token(**body["token_in"]),
        token_out=Token(**body["token_out"]),
        amount_in=int(body["amount_in"]),
        amount_out=int(body["amount_out"]),
    )
    return PlannedHop(hop=hop, fee_pips=body["fee_pips"], tick_spacing=body.get("tick_spacing", 0))


def _write_token(token: Token) -> dict[str, Any]:
    return {
        "chain_id": token.chain_id,
        "address": token.address,
        "symbol": token.symbol,
        "decimals": token.decimals,
    }
