"""Aerodrome, Slipstream and Camelot: what is read becomes the right pool, and events and fees are followed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.chain.sync import RETRY_S
from adapters.dexes import aerodrome, camelot, slipstream, uniswap_v2, uniswap_v3
from adapters.dexes.aerodrome import Aerodrome
from adapters.dexes.camelot import Camelot
from adapters.dexes.slipstream import Slipstream
from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick
from routing_engine.markets import ConcentratedPool, Fork, SolidlyPool
from routing_engine.model import ZERO_ADDRESS
from tests.support.scripts import Script, adapter_of, address, token

FIRST, SECOND, THIRD = token(1), token(2, 6), token(3)
FACTORY, VOLATILE, STABLE = address(0xF), address(0xA), address(0xB)
RESERVES = (10**24, 3 * 10**12)


def expected(stable: bool, fee_pips: int, reserves: tuple[int, int] = RESERVES) -> SolidlyPool:
    return SolidlyPool(
        id=f"1:{STABLE if stable else VOLATILE}",
        protocol="aerodrome_v2",
        token0=FIRST,
        token1=SECOND,
        reserve0=reserves[0],
        reserve1=reserves[1],
        stable=stable,
        fork=Fork.VELODROME_V2,
        fee0_pips=fee_pips,
        fee1_pips=fee_pips,
    )


@pytest.fixture
def base() -> Script:
    script = Script(FIRST, SECOND, THIRD)
    script.default(aerodrome.GET_POOL, FACTORY, ZERO_ADDRESS)
    for stable, pool in ((False, VOLATILE), (True, STABLE)):
        script.on(aerodrome.GET_POOL(FACTORY, FIRST.address, SECOND.address, stable), pool)
        script.on(aerodrome.GET_FEE(FACTORY, pool, stable), 5 if stable else 30)
        script.on(aerodrome.GET_RESERVES(pool), *RESERVES)
    for function, value in zip((*aerodrome.USUAL_FEES, aerodrome.IS_PAUSED), (30, 5, False), strict=True):
        script.on(function(FACTORY), value)
    return script


def test_aerodrome_is_followed(base):
    adapter, counting = adapter_of(base, Aerodrome("aerodrome_v2", 1, FACTORY))

    def fetch():
        return adapter.parse(adapter.fetch()).markets

    assert fetch() == (expected(False, 3000), expected(True, 500))
    base.emit(aerodrome.SYNC, STABLE, [], [7 * 10**20, 7 * 10**8])
    synced = expected(True, 500, (7 * 10**20, 7 * 10**8))
    assert fetch() == (expected(False, 3000), synced)
    assert counting.calls == 3, "the factory only"
    base.on(aerodrome.GET_FEE(FACTORY, VOLATILE, False), 100)
    base.emit(aerodrome.CUSTOM_FEE, FACTORY, [VOLATILE], [100])
    assert set(fetch()) == {synced, expected(False, 10_000)}
    base.on(aerodrome.USUAL_FEES[1](FACTORY), 8)
    base.on(aerodrome.GET_FEE(FACTORY, STABLE, True), 8)
    base.on(aerodrome.GET_RESERVES(STABLE), 7 * 10**20, 7 * 10**8)
    base.mine()
    assert set(fetch()) == {expected(False, 10_000), replace(synced, fee0_pips=800, fee1_pips=800)}
    base.on(aerodrome.IS_PAUSED(FACTORY), True)
    base.mine()
    assert fetch() == ()
    assert adapter.memory.count_refused() == {"aerodrome_v2:paused": 2}
    base.on(aerodrome.IS_PAUSED(FACTORY), False)
    base.mine()
    assert fetch() == (), "not looked at again so soon"
    base.timestamp += RETRY_S
    base.mine()
    assert len(fetch()) == 2


def test_a_new_pool_is_read(base):
    adapter, _ = adapter_of(base, Aerodrome("aerodrome_v2", 1, FACTORY))
    adapter.fetch()
    pool = address(0xC)
    base.on(aerodrome.GET_RESERVES(pool), 5, 6)
    base.on(aerodrome.GET_FEE(FACTORY, pool, True), 1)
    base.emit(aerodrome.POOL_CREATED, FACTORY, [FIRST.address, THIRD.address, True], [pool, 9])
    base.emit(aerodrome.POOL_CREATED, FACTORY, [FIRST.address, address(0x99), True], [address(0xD), 10])
    markets = adapter.parse(adapter.fetch()).markets
    assert [market.id for market in markets] == [f"1:{VOLATILE}", f"1:{STABLE}", f"1:{pool}"]
    assert markets[2].fee0_pips == 100


def test_slipstream_follows_fees_that_change_without_events():
    script = Script(FIRST, SECOND)
    pool = address(0xA)
    script.default(slipstream.GET_POOL, FACTORY, ZERO_ADDRESS)
    script.on(slipstream.GET_POOL(FACTORY, FIRST.address, SECOND.address, 100), pool)
    script.on(slipstream.TICK_SPACINGS(FACTORY), [1, 100])
    price = sqrt_ratio_at_tick(7)
    script.on(uniswap_v3.SLOT0(pool), price, 7)
    script.on(uniswap_v3.LIQUIDITY(pool), 10**18)
    script.on(slipstream.FEE(pool), 450)
    script.on(uniswap_v3.TICKS(pool, -200), 10**18, 10**18)
    script.on(uniswap_v3.TICKS(pool, 300), 10**18, -(10**18))
    script.on(uniswap_v3.TICK_BITMAP(pool, -1), 1 << 254)
    script.on(uniswap_v3.TICK_BITMAP(pool, 0), 1 << 3)
    script.default(uniswap_v3.TICK_BITMAP, pool, 0)
    adapter, counting = adapter_of(script, Slipstream("aerodrome_slipstream", 1, FACTORY))
    (found,) = adapter.parse(adapter.fetch()).markets
    assert found == ConcentratedPool(
        id=f"1:{pool}",
        protocol="aerodrome_slipstream",
        token0=FIRST,
        token1=SECOND,
        fee_pips=450,
        tick_spacing=100,
        sqrt_price_x96=price,
        tick=7,
        liquidity=10**18,
        ticks=((-200, 10**18), (300, -(10**18))),
    )
    script.on(slipstream.FEE(pool), 900)
    script.mine()
    assert adapter.parse(adapter.fetch()).markets == (replace(found, fee_pips=900),)
    assert counting.calls == 1, "the fee only"
    after = sqrt_ratio_at_tick(-3)
    script.emit(uniswap_v3.SWAP, pool, [FACTORY, FACTORY], [1, -1, after, 10**18, -3])
    assert adapter.parse(adapter.fetch()).markets == (replace(found, fee_pips=900, sqrt_price_x96=after, tick=-3),)
    script.refuse(slipstream.FEE(pool))
    script.mine()
    assert adapter.parse(adapter.fetch()).refused == {"aerodrome_slipstream:unreadable": 1}


def test_camelot_charges_by_direction_and_may_change_its_kind():
    script = Script(FIRST, SECOND, chain_id=1)
    pair = address(0xA)
    script.on(uniswap_v2.GET_PAIR(FACTORY, FIRST.address, SECOND.address), pair)
    script.on(camelot.OWNER_SHARE(FACTORY), 40_000)
    script.on(camelot.IS_STABLE(pair), False)
    script.on(camelot.GET_RESERVES(pair), *RESERVES, 300, 500)
    adapter, counting = adapter_of(script, Camelot("camelot_v2", 1, FACTORY))
    (found,) = adapter.parse(adapter.fetch()).markets
    assert found == SolidlyPool(
        id=f"1:{pair}",
        protocol="camelot_v2",
        token0=FIRST,
        token1=SECOND,
        reserve0=RESERVES[0],
        reserve1=RESERVES[1],
        stable=False,
        fork=Fork.CAMELOT,
        fee0_pips=3000,
        fee1_pips=5000,
    )
    script.emit(camelot.SYNC, pair, [], [5, 6])
    assert adapter.parse(adapter.fetch()).markets == (replace(found, reserve0=5, reserve1=6),)
    assert counting.calls == 0
    script.on(camelot.IS_STABLE(pair), True)
    script.on(camelot.GET_RESERVES(pair), 5, 6, 40, 40)
    script.emit(camelot.KIND_CHANGED, pair, [], [False, True])
    changed = {"stable": True, "fee0_pips": 400, "fee1_pips": 400, "owner_share_pips": 400_000}
    assert adapter.parse(adapter.fetch()).markets == (replace(found, reserve0=5, reserve1=6, **changed),)
