"""Rates of tokens in Balancer's stable pools: what a swap would use now, caches included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.chain.protocol import Pool
from adapters.rpc.abi import Call, CallFailed, Function, Outcome
from adapters.rpc.multicall import MULTICALL3
from adapters.rpc.reading import Reading, ask_each
from routing_engine.fixed_point import WAD
from routing_engine.model import ZERO_ADDRESS

NOW = Function("getCurrentBlockTimestamp()", "uint256")
"""Of Multicall3."""
PROVIDERS = Function("getRateProviders()", "address[]")
RATE = Function("getRate()", "uint256")
CACHES = {
    "price": Function("getPriceRateCache(address)", "uint256", "uint256", "uint256"),
    "token": Function("getTokenRateCache(address)", "uint256", "uint256", "uint256"),
    "token_with_old": Function("getTokenRateCache(address)", "uint256", "uint256", "uint256", "uint256"),
}
"""Each begins with the rate and ends with the moment it expires."""

Scales = tuple[int, ...]
Asked = tuple[tuple[Call, Outcome], ...]


@dataclass(frozen=True, slots=True)
class Rated:
    """A token of a pool whose rate a provider gives."""

    pool: Pool
    place: int
    provider: str

    @property
    def token(self) -> str:
        """Address of the token."""
        return self.pool.tokens[self.place].address


def read_scales(pools: Mapping[Pool, str]) -> Reading[Mapping[Pool, Scales | CallFailed]]:
    """Read what brings each token's balance to 18 decimals and applies its rate.

    A swap first renews a cached rate that has expired, so that of the provider counts then; but phantom stable pools
    renew it too late for the swap itself.

    Parameters
    ----------
    pools : mapping of Pool to str
        By pool, which of `CACHES` it has, or ``none``.
    """
    rated = [pool for pool, kind in pools.items() if kind in CACHES]
    clock = yield from ask_each(rated[:1], lambda pool: (NOW(MULTICALL3),))
    asked = yield from ask_each(rated, lambda pool: (PROVIDERS(pool.key),))
    providers: dict[Pool, Sequence[str] | CallFailed] = {pool: _decode_providers(pool, asked[pool]) for pool in rated}
    wanted = [
        Rated(pool, place, provider)
        for pool, found in providers.items()
        if not isinstance(found, CallFailed)
        for place, provider in enumerate(found)
        if provider != ZERO_ADDRESS
    ]
    answers = yield from ask_each(
        wanted,
        lambda each: (
            CACHES[pools[each.pool]](each.pool.key, each.pool.tokens[each.place].address),
            RATE(each.provider),
        ),
    )
    rates: dict[Pool, dict[int, Asked]] = {}
    for each in wanted:
        rates.setdefault(each.pool, {})[each.place] = answers[each]
    found: dict[Pool, Scales | CallFailed] = {}
    for pool, kind in pools.items():
        given = providers.get(pool, ())
        try:
            found[pool] = _compute_scales(pool, kind, given, rates.get(pool, {}), clock[rated[0]] if rated else ())
        except CallFailed as error:
            found[pool] = error
    return found


def _compute_scales(
    pool: Pool, kind: str, providers: Sequence[str] | CallFailed, rates: Mapping[int, Asked], clock: Asked
) -> Scales:
    if isinstance(providers, CallFailed):
        raise providers
    known = {place: _decode_rate(asked, clock, is_late=kind == "token") for place, asked in rates.items()}
    return tuple(known.get(place, WAD) * 10 ** (18 - token.decimals) for place, token in enumerate(pool.tokens))


def _decode_providers(pool: Pool, asked: Asked) -> Sequence[str] | CallFailed:
    """Return the providers of the pool's tokens in order; its own token, which has none, stands among them."""
    ((call, outcome),) = asked
    try:
        found: list[str] = list(call.decode_one(outcome))
    except CallFailed as error:
        return error
    place = pool.get_number(2)
    if len(found) == len(pool.tokens) + 1 and place >= 0:
        del found[place]
    return found if len(found) == len(pool.tokens) else CallFailed(f"{pool.key} has {len(found)} rate providers")


def _decode_rate(asked: Asked, clock: Asked, *, is_late: bool) -> int:
    (cache, cached), (rate, current) = asked
    ((now, timestamp),) = clock
    values = cache.decode(cached)
    is_renewed = now.decode_one(timestamp) > values[-1] and not is_late
    return int(rate.decode_one(current) if is_renewed else values[0])
