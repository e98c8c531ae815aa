"""Pools of Balancer beside its weighted and stable ones: types ``linear`` and ``element``."""

from __future__ import annotations

from typing import NoReturn

from routing_engine.errors import InvalidMarket
from routing_engine.markets.balancer.linear import PREMINTED, BalancerLinearPool
from routing_engine.markets.balancer.readers import to_wad
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_fee, refuse_many_decimals
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read
from routing_engine.model import Token


def build(pool: Pool, market_id: str, tokens: list[Token]) -> BalancerLinearPool:
    """Build a linear pool: three tokens, of which the pool's own stands at its address."""
    refuse_many_decimals(tokens)
    params, places = read_object(pool, "params"), _places(pool, tokens)
    reserves = read(pool, "reserves")
    if not isinstance(reserves, list) or len(reserves) != len(tokens):
        raise InvalidMarket("reserves", f"expected {len(tokens)} digit strings")
    held = [read_number({f"reserves.{place}": reserves[place]}, f"reserves.{place}") for place in places]
    supply = PREMINTED - held[2]
    if to_wad(params.get("totalShares"), "params.totalShares") != supply:
        raise PoolRefused("inconsistent_state:totalShares")
    if supply <= 0 or held[0] + held[1] == 0:
        raise PoolRefused("empty")
    rate = pool["tokens"][places[1]].get("price_rate")
    if rate is None:
        raise PoolRefused("rate_unknown")
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
    raise PoolRefused("price_moves_with_time")


def _places(pool: Pool, tokens: list[Token]) -> tuple[int, int, int]:
    """Return where main, wrapped and the pool's own token stand."""
    params, own = read_object(pool, "params"), str(pool.get("address", "")).lower()
    places = read_number(params, "mainIndex"), read_number(params, "wrappedIndex")
    share = next((place for place, token in enumerate(tokens) if token.address == own), -1)
    if sorted((*places, share)) != [0, 1, 2] or len(tokens) != 3:
        raise PoolRefused("indexes_unknown")
    return (*places, share)


LINEAR = MarketKind(market=BalancerLinearPool, pool_readers={"linear": build, "element": refuse_element})
