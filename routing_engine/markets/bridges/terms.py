"""Names and rates that lanes share."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import BPS, WAD
from routing_engine.model import Token


def lane_id(protocol: str, token_in: Token, token_out: Token) -> str:
    """Name a lane by protocol, chains and the token sent: ``protocol:1-10:0x…``."""
    return f"{protocol}:{token_in.chain_id}-{token_out.chain_id}:{token_in.address}"


def rate_of_bps(bps: int | str | Decimal, field: str) -> int:
    """Return basis points, whole or not, as an exact rate in 1e-18.

    Raises
    ------
    InvalidMarket
        If `bps` is no number from 0 to 10000, or finer than 1e-14.
    """
    try:
        rate = Decimal(str(bps)) * (WAD // BPS)
    except InvalidOperation:
        raise InvalidMarket(field, f"must be a number of basis points, not {bps!r}") from None
    if not rate.is_finite() or not 0 <= rate <= WAD or rate != int(rate):
        raise InvalidMarket(field, f"must be from 0 to 10000 basis points, with at most 14 decimals, not {bps!r}")
    return int(rate)
