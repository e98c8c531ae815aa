"""Pools of Balancer beside its weighted and stable ones: types ``linear`` and ``element``."""

from __future__ import annotations

from typing import NoReturn

from routing_engine.errors import InvalidMarket
from routing_engine.formats.neutral_pools.balancer import to_wad
from routing_engine.formats.neutral_pools.fields import Pool, Refused, read_fee
from routing_engine.formats.neutral_pools.numbers import read_number, read_object
from routing_engine.markets import BalancerLinearPool
from routing_engine.markets.balancer.linear import PREMINTED
from routing_engine.markets.common.record import read
from routing_engine.model import Token


def build(pool: Pool, market_id: str, tokens: list[Token]) -> BalancerLinearPool:
    """Build a linear pool: three tokens, of which the pool's own stands at its address."""
    params, places = read_object(pool, "params"), _places(pool, tokens)
    reserves = read(pool, "reserves")
    if not isinstance(reserves, list) or len(reserves) != len(tokens):
        raise InvalidMarket("reserves", f"expected {len(tokens)} digit strings")
    held = [read_number({f"reserves.{place}": reserves[place]}, f"reserves.{place}") for place in places]
    supply = PREMINTED - held[2]
    if to_wad(params.get("totalShares"), "params.totalShares") != supply:
        raise Refused("inconsistent_state:totalShares")
    if supply <= 0 or held[0] + held[1] == 0:
        raise Refused("empty")
    rate = pool["tokens"][places[1]].get("price_rate")
    if rate is None:
        raise Refused("rate_unknown")
    return BalancerLinearPool(
        id=market_id,
        protocol="balancer_v2",
        tokens=tuple(tokens[place] for place in places),
        balances=(held[0], held[1], supply),
        rate_e18=to_wad(rate, f"tokens.{places[1]}.price_rate"),
        lower_target=to_wad(params.get("lowerTarget"), "params.lowerTarget"),
        upper_target=to_wad(params.get("upperTarget"), "params.upperTarget"),
        fee_e18=read_fee(pool, 10**18),
    )


def refuse_element(pool: Pool, market_id: str, tokens: list[Token]) -> NoReturn:
    """Refuse a pool of principal tokens: its price depends on the time left until they expire."""
    raise Refused("price_moves_with_time")


def _places(pool: Pool, tokens: list[Token]) -> tuple[int, int, int]:
    """Return where main, wrapped and the pool's own token stand."""
    params, own = read_object(pool, "params"), str(pool.get("address", "")).lower()
    places = read_number(params, "mainIndex"), read_number(params, "wrappedIndex")
    share = next((place for place, token in enumerate(tokens) if token.address == own), -1)
    if sorted((*places, share)) != [0, 1, 2] or len(tokens) != 3:
        raise Refused("indexes_unknown")
    return (*places, share)
