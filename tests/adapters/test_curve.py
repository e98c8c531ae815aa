"""Curve's pools of every kind: states that were recorded from deployed contracts are read back, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.dexes import curve, curve_pools
from adapters.dexes.curve import CurveRegistry
from adapters.dexes.curve_pools import KINDS
from adapters.rpc.multicall import MULTICALL3
from routing_engine.amm.cryptoswap.exchange import Method
from routing_engine.amm.stableswap import Product
from routing_engine.errors import QuoteRefused
from routing_engine.market import Market
from routing_engine.markets import CryptoSwapPool, StableSwapPool
from routing_engine.markets.stableswap.pool import Accounting
from routing_engine.model import NATIVE_ADDRESS, Token
from tests.support.scripts import Script, adapter_of, address, token
from tests.unit.amm.test_cryptoswap_vectors import POOLS as CRYPTO_POOLS

REGISTRY, POOL = address(0xF), address(0xA)
UNIT = 10**18
NG = StableSwapPool(
    id=f"1:{POOL}",
    protocol="curve",
    tokens=(token(1), token(2, 6), token(3, 6)),
    balances=(10**24, 1_300_000_000_000, 700_000_000_000),
    rates=(UNIT, 10**30, 10**30),
    amp=20_000,
    fee_e10=4_000_000,
    admin_fee_e10=5 * 10**9,
    product=Product.LAST,
    multiplier_e10=20_000_000_000,
    oracle=True,
)
PLAIN = replace(NG, product=Product.EACH, multiplier_e10=0, oracle=False)
DEEP = replace(
    PLAIN, tokens=(token(1), token(2)), balances=(123_456_789 * UNIT + 7, 3 * UNIT + 1), rates=(UNIT, UNIT), amp=200
)
RECORDED = [recorded.pool for recorded in CRYPTO_POOLS.values()]


def script_of(kind: str, market: Any, wrong_by: int = 0) -> Script:
    """Return a chain on which a registry lists one pool, which has a market's state and quotes."""
    script = Script(*market.tokens)
    script.default(curve.NOW, MULTICALL3, script.timestamp)
    registry = REGISTRY
    if kind == "registry":
        registry = address(0xE)
        script.on(curve.GET_REGISTRY(REGISTRY), registry)
    script.on(curve.POOL_COUNT(registry), 1)
    script.on(curve.POOL_LIST(registry, 0), POOL)
    coins = [each.address for each in market.tokens]
    get_coins = KINDS[kind].get_coins
    room = len(get_coins.outputs)
    given = [coins] if get_coins.outputs == ("address[]",) else coins + [address(0)] * (room - len(coins))
    script.on(get_coins(registry, POOL), *given)
    set_state(script, market)
    dy = curve_pools.CRYPTO_DY if KINDS[kind].is_crypto else curve_pools.STABLE_DY
    script.handle(dy, POOL, lambda i, j, dx: quote(market, i, j, dx, wrong_by))
    return script


def quote(market: Market, sold: int, bought: int, amount: int, wrong_by: int) -> tuple[int] | None:
    try:
        return (market.swap_exact_in(market.tokens[sold], market.tokens[bought], amount)[0].amount_out + wrong_by,)
    except QuoteRefused:
        return None


def set_state(script: Script, market: Any) -> None:
    for place, balance in enumerate(market.balances):
        script.on(curve_pools.BALANCES(POOL, place), balance)
    numbers: dict[str, int] = {}
    if isinstance(market, CryptoSwapPool):
        numbers = {name: getattr(market, name.lower()) for name in curve_pools.CRYPTO} | {"A": market.ann}
        if market.profit:
            numbers |= dict(zip(curve_pools.PROFIT, market.profit[1:], strict=True))
        lists = {"price_scale": market.price_scale, "price_oracle": market.profit.price_oracle if market.profit else ()}
        for name, values in lists.items():
            if len(market.tokens) == 2 and values:
                numbers[name] = values[0]
            for place, value in enumerate(values):
                script.on(curve_pools._make_getter(name, "uint256")(POOL, place), value)
    else:
        numbers = {"A_precise": market.amp, "fee": market.fee_e10, "admin_fee": market.admin_fee_e10}
        numbers["A"] = market.amp // market.amp_precision
        numbers["offpeg_fee_multiplier"] = market.multiplier_e10
        script.on(curve_pools.STORED_RATES(POOL), list(market.rates))
        if market.amp_precision == 1:
            script.refuse(curve_pools.A_PRECISE(POOL))
            del numbers["A_precise"]
    for name, value in numbers.items():
        script.on(curve_pools._make_getter(name)(POOL), value)


def captured(kind: str, market: Any, wrong_by: int = 0) -> Any:
    adapter, _ = adapter_of(script_of(kind, market, wrong_by), CurveRegistry(1, REGISTRY, kind))
    contents = adapter.parse(adapter.fetch())
    assert not adapter.memory.faults
    return contents.markets[0] if contents.markets else dict(contents.refused)


STABLE = {
    "NG": ("stable_ng", NG),
    "plain": ("stable", PLAIN),
    "plain, rounded otherwise": ("stable", replace(DEEP, product=Product.LAST)),
    "of the first registry": ("registry", PLAIN),
    "the oldest, without A_precise": ("registry", replace(PLAIN, amp=2000, amp_precision=1)),
    "with the native coin": (
        "registry",
        replace(DEEP, tokens=(token(1), Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18))),
    ),
    "like the first lending pools": (
        "registry",
        replace(DEEP, product=Product.EACH_PLUS_ONE, spare=0, accounting=Accounting.INVARIANT),
    ),
}


@pytest.mark.parametrize(("kind", "market"), STABLE.values(), ids=STABLE)
def test_stable_pools_are_read_back(kind, market):
    found = captured(kind, market)
    assert isinstance(found, StableSwapPool)
    for sold, bought in market.edges():
        for part in (10**6, 999, 3):
            amount = market.balances[market.tokens.index(sold)] // part
            if amount:
                got = quote(found, found.tokens.index(sold), found.tokens.index(bought), amount, 0)
                assert got == quote(market, market.tokens.index(sold), market.tokens.index(bought), amount, 0)
    assert replace(found, product=market.product, spare=market.spare, accounting=market.accounting) == market


@pytest.mark.parametrize("recorded", RECORDED, ids=list(CRYPTO_POOLS))
def test_crypto_pools_are_read_back(recorded):
    market = replace(recorded, id=f"1:{POOL}")
    newer = "tricrypto_ng" if len(market.tokens) == 3 else "twocrypto_ng"
    kind = "crypto" if market.method is Method.NEWTON else newer
    found = captured(kind, market)
    assert found == market or (market.profit is None and replace(found, profit=None) == market)


@pytest.mark.parametrize("kind", ["stable_ng", "stable", "registry"])
def test_a_pool_whose_own_quotes_differ_is_refused(kind):
    market = NG if kind == "stable_ng" else PLAIN
    assert captured(kind, market, wrong_by=2) == {f"curve_{kind}:quotes_differ": 1}


def test_a_pool_that_lacks_a_getter_is_refused():
    script = script_of("stable_ng", NG)
    script.refuse(curve_pools.MULTIPLIER(POOL))
    adapter, _ = adapter_of(script, CurveRegistry(1, REGISTRY, "stable_ng"))
    assert adapter.parse(adapter.fetch()).refused == {"curve_stable_ng:unreadable": 1}


def test_an_empty_pool_is_refused():
    assert captured("stable", replace(PLAIN, balances=(0, 0, 0))) == {"curve_stable:empty": 1}


def test_new_pools_are_found_by_the_events_of_their_factory():
    script = script_of("stable_ng", NG)
    script.on(curve.POOL_COUNT(REGISTRY), 0)
    adapter, counting = adapter_of(script, CurveRegistry(1, REGISTRY, "stable_ng"))
    assert adapter.parse(adapter.fetch()).markets == ()
    others, unlisted = 3, address(0xB)
    for place, pool in enumerate((POOL, unlisted), start=others):
        script.on(curve.POOL_LIST(REGISTRY, place), pool)
        script.emit(curve.Event(curve.CREATIONS[1]), REGISTRY, [], [[], 0, 0, address(0)])
    script.on(curve.POOL_COUNT(REGISTRY), others + 2)
    script.on(KINDS["stable_ng"].get_coins(REGISTRY, unlisted), [token(1).address, address(9)])
    assert adapter.parse(adapter.fetch()).markets == (NG,)
    script.mine()
    adapter.fetch()
    assert counting.calls == 1, "the time only"


def test_factories_of_all_generations_are_listened_to():
    """First topics as explorers show them for the factories of Ethereum."""
    assert set(CurveRegistry.creations) == {
        "0x5b4a28c940282b5bf183df6a046b8119cf6edeb62859f75e835eb7ba834cce8d",
        "0xd1d60d4611e4091bb2e5f699eeb79136c21ac2305ad609f3de569afc3471eecc",
        "0x01f31cd2abdeb4e5e10ba500f2db0f937d9e8c735ab04681925441b4ea37eda5",
        "0x0394cb40d7dbe28dad1d4ee890bdd35bbb0d89e17924a80a542535e83d54ba14",
        "0x8152a3037e3dc54154ad0d2cadb1cf7e1d1b9e2b625faa3dfb4fe03d609102ca",
        "0xa307f5d0802489baddec443058a63ce115756de9020e2b07d3e2cd2f21269e2a",
    }


def test_events_are_followed_at_once_and_rates_within_a_minute():
    script = script_of("stable_ng", NG)
    adapter, counting = adapter_of(script, CurveRegistry(1, REGISTRY, "stable_ng"))
    assert adapter.parse(adapter.fetch()).markets == (NG,)
    script.mine()
    assert adapter.parse(adapter.fetch()).markets[0] is adapter.memory.holdings["curve_stable_ng"].markets[POOL]
    assert counting.calls == 1, "the time only"

    moved = replace(NG, balances=(NG.balances[0] + UNIT, NG.balances[1] - 999_000, NG.balances[2]))
    set_state(script, moved)
    script.handle(curve_pools.STABLE_DY, POOL, lambda i, j, dx: quote(moved, i, j, dx, 0))
    exchange = curve.Event("TokenExchange(address indexed,int128,uint256,int128,uint256)")
    script.emit(exchange, POOL, [REGISTRY], [0, UNIT, 1, 999_000])
    assert adapter.parse(adapter.fetch()).markets == (moved,)

    rated = replace(moved, rates=(UNIT + 10**15, 10**30, 10**30))
    set_state(script, rated)
    script.handle(curve_pools.STABLE_DY, POOL, lambda i, j, dx: quote(rated, i, j, dx, 0))
    script.mine()
    assert adapter.parse(adapter.fetch()).markets == (moved,)
    script.timestamp += curve.OLDEST_S
    script.default(curve.NOW, MULTICALL3, script.timestamp)
    script.mine()
    assert adapter.parse(adapter.fetch()).markets == (rated,)


def test_pools_with_coins_that_are_not_listed_are_none_of_ours():
    script = script_of("stable_ng", NG)
    script.tokens = script.tokens[:2]
    adapter, _ = adapter_of(script, CurveRegistry(1, REGISTRY, "stable_ng"))
    contents = adapter.parse(adapter.fetch())
    assert (contents.markets, dict(contents.refused)) == ((), {})
