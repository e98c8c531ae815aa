"""Crypto pools against answers of deployed contracts, and against another implementation of their changing prices.

Source: KyberNetwork/kyberswap-dex-lib, the tests of curve/tricrypto-ng and curve/twocrypto-ng: single quotes read with
``get_dy``, and sequences of swaps on the same states, after each of which the pool's prices, D and profits have moved.
Numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from routing_engine.amm.cryptoswap.exchange import CryptoRules, Profit, exchange, scaled, settle
from routing_engine.fixed_point import WAD
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from tests.support.strategies import make_token


@dataclass(frozen=True)
class Recorded:
    """A pool in a recorded state; quotes of it, and a sequence of swaps: (sold, bought, amount in, amount out)."""

    pool: CryptoSwapPool
    quotes: tuple[tuple[int, int, int, int], ...]
    sequence: tuple[tuple[int, int, int, int], ...] = ()


def crypto_pool(decimals, balances, price_scale, **fields):
    tokens = tuple(make_token(60 + number, each) for number, each in enumerate(decimals))
    return CryptoSwapPool(
        id="1:0xrecorded", protocol="curve", tokens=tokens, balances=balances, price_scale=price_scale, **fields
    )


POOLS = {
    "0xf5f5b97624542d72a9e06f04804bf81baa15e2b4, USDT, WBTC, WETH at block 25192354": Recorded(
        crypto_pool(
            (6, 8, 18),
            (4332903906625, 6010377250, 2228069361366269473640),
            (75855801314196021500642, 2084347396023404453046),
            d=13533423182336480804388507,
            ann=756886,
            gamma=175700099522697,
            mid_fee=1000000,
            out_fee=140000000,
            fee_gamma=400000000000000,
            profit=Profit(
                (73165887880271882853412, 1984580596191842865460),
                1094111136024631831,
                1047072616644998080,
                7967512069557260391649,
                100000000,
                100000000000,
            ),
        ),
        (
            (0, 1, 1000000000, 1351698),
            (0, 1, 10000000000, 13494837),
            (0, 1, 100000000000, 133055837),
            (0, 2, 1000000000, 498291832824029092),
            (0, 2, 10000000000, 4973357493860972412),
            (1, 0, 10000000, 7227080873),
            (1, 0, 100000000, 71159485309),
            (1, 2, 10000000, 3642938363107693855),
            (2, 0, 1000000000000000000, 1962645351),
            (2, 0, 10000000000000000000, 19530569920),
            (2, 1, 1000000000000000000, 2682639),
        ),
    ),
    "0x2889302a794da87fbf1d6db415c1492194663d13, crvUSD, tBTC, wstETH at block 19468099": Recorded(
        crypto_pool(
            (18, 18, 18),
            (3848079508071253519125552, 60997386412794855327, 1028200997183081004168),
            (66313464177401058702341, 3988288337309167729564),
            d=11990883592127090140834712,
            ann=540000,
            gamma=80500000000000,
            mid_fee=1000000,
            out_fee=140000000,
            fee_gamma=400000000000000,
            profit=Profit(
                (63612706012126486095056, 3782761569503404058823),
                1005532234158713186,
                1002781276086899355,
                6209561906175920711602,
                100000000,
                100000000000,
            ),
        ),
        (
            (0, 1, 50000000000000000, 777940997580),
            (0, 1, 500000000000000001, 7779409210946),
            (0, 1, 5000000000000000012, 77794015730818),
            (0, 1, 50000000000000000123, 777932520003489),
            (0, 1, 500000000000000001234, 7778561960860400),
            (0, 1, 5000000000000000012345, 77709786016695971),
            (0, 2, 50000000000000000, 13082875266807),
            (0, 2, 500000000000000001, 130828739090584),
            (0, 2, 5000000000000000012, 1308286035086453),
            (0, 2, 50000000000000000123, 13082724777147855),
            (0, 2, 500000000000000001234, 130813699671187605),
            (0, 2, 5000000000000000012345, 1306791631101999948),
            (2, 1, 50000000000000000, 2942298304726216),
            (2, 1, 500000000000000001, 29411687945522080),
            (2, 1, 5000000000000000012, 292970319746068264),
            (2, 1, 50000000000000000123, 2809513964503774599),
            (2, 1, 500000000000000001234, 19769566246680798724),
            (2, 1, 5000000000000000012345, 49961193949748966896),
            (2, 0, 500000000000000000000, 1247392878908745428005336),
            (2, 0, 5000000000000000000001, 3151867100859420032898396),
        ),
        (
            (0, 1, 50000000000000000, 777940997580),
            (0, 1, 500000000000000001, 7779409029619),
            (0, 1, 5000000000000000012, 77793995822360),
            (0, 1, 50000000000000000123, 777930511062449),
            (0, 1, 500000000000000001234, 7778361047648857),
            (0, 1, 5000000000000000012345, 77689853414055234),
            (0, 2, 50000000000000000, 13063159475035),
            (0, 2, 500000000000000001, 130631578041005),
            (0, 2, 5000000000000000012, 1306314111679213),
            (0, 2, 50000000000000000123, 13062974255148374),
            (0, 2, 500000000000000001234, 130613068528414923),
            (0, 2, 5000000000000000012345, 1304475753930054478),
            (2, 1, 50000000000000000, 2944281383075492),
            (2, 1, 500000000000000001, 29429160844225131),
            (2, 1, 5000000000000000012, 292898020911624817),
            (2, 1, 50000000000000000123, 2784126686177687134),
            (2, 1, 500000000000000001234, 18092508659102257720),
            (2, 1, 5000000000000000012345, 29791521158275658506),
            (2, 0, 500000000000000000000, 269495174387166607472662),
            (2, 0, 5000000000000000000001, 1468879551843067569968646),
        ),
    ),
    "0x1fb84fa6d252762e8367ea607a6586e09dcebe3d on Arbitrum, ETH+, WETH": Recorded(
        crypto_pool(
            (18, 18),
            (968569777414549410834, 1045106588251996643768),
            (983313638977093334,),
            d=1996236386986675947911,
            ann=20000000,
            gamma=20000000000000000,
            mid_fee=500000,
            out_fee=8000000,
            fee_gamma=30000000000000000,
            profit=Profit(
                (983239528662393033,),
                1000760564011364559,
                1000381175737496082,
                1006167834136870835627,
                1000000000000,
                25000000000000,
            ),
        ),
        (
            (1, 0, 50000000000000000, 49158730955589571),
            (1, 0, 500000000000000001, 491586661400038591),
            (1, 0, 5000000000000000012, 4915798138812167060),
            (1, 0, 50000000000000000123, 49147140999173741771),
            (1, 0, 500000000000000001234, 453553432480766034585),
            (1, 0, 5000000000000000012345, 923692799321975179979),
            (1, 0, 10918181, 10734905),
            (1, 0, 2480561515956081681, 2438807364673706750),
            (1, 0, 1017116218018521399, 1000000000000000000),
            (0, 1, 1000000000000000000, 1016967986681031868),
        ),
        ((1, 0, 1017116218018521399, 1000000000000000000), (0, 1, 1000000000000000000, 1016969759771777253)),
    ),
    "0xe34b3a4cedb077b53cc813df6fe34a85749fcecc on Arbitrum, crvUSD, EURS": Recorded(
        crypto_pool(
            (18, 2),
            (4048585006552861060153, 399999),
            (1083716143157454024,),
            d=8383386641969295080730,
            ann=1880000,
            gamma=199000000000000000,
            mid_fee=4000000,
            out_fee=30000000,
            fee_gamma=12300000000000000,
            profit=Profit(
                (1083039505855158959,),
                1000023302885130528,
                1000020627288204984,
                4026454270358976869472,
                100000000,
                100000000000000,
            ),
        ),
        (
            (0, 1, 4732267796024191790852, 327494),
            (1, 0, 1, 10822405757804743),
            (1, 0, 279108, 2680342795273391100498),
            (1, 0, 327494, 2949081412746367458511),
        ),
        ((0, 1, 4732267796024191790852, 327494), (1, 0, 327494, 4701664153184618167557)),
    ),
}


def rules_of(pool):
    return CryptoRules(pool.method, pool.ann, pool.gamma, pool.mid_fee, pool.out_fee, pool.fee_gamma)


def sell(pool, i, j, amount_in):
    """Return what an exchange pays, and the balances before and after it, scaled."""
    precisions = [10 ** (18 - token.decimals) for token in pool.tokens]
    balances = list(pool.balances)
    balances[i] += amount_in
    price = (WAD, *pool.price_scale)[j]
    before = scaled(balances, precisions, pool.price_scale)
    sold = exchange(before, j, pool.d, precisions[j], price, rules_of(pool))
    balances[j] -= sold.amount_out
    return sold, balances, scaled(balances, precisions, pool.price_scale)


@pytest.mark.parametrize("recorded", POOLS.values(), ids=POOLS)
def test_quotes_equal_what_the_deployed_contract_answered(recorded, record_property):
    pool = recorded.pool
    record_property("vector_cases", ("curve crypto pools: answers of deployed contracts", len(recorded.quotes)))
    for i, j, amount_in, amount_out in recorded.quotes:
        assert sell(pool, i, j, amount_in)[0].amount_out == amount_out
        limits = pool.limits(pool.tokens[i], pool.tokens[j])
        if limits.min_amount_in <= amount_in <= limits.max_amount_in:
            hop, _ = pool.swap_exact_in(pool.tokens[i], pool.tokens[j], amount_in)
            assert hop.amount_out == amount_out


SEQUENCES = [each for each in POOLS.values() if each.sequence]


@pytest.mark.parametrize(
    ("recorded", "moves"), list(zip(SEQUENCES, (6, 0, 2), strict=True)), ids=("three", "two", "moving")
)
def test_every_swap_of_a_sequence_sees_the_prices_that_the_one_before_left(recorded, moves, record_property):
    pool, moved = recorded.pool, 0
    record_property("vector_cases", ("curve crypto pools: swaps in sequence, by a simulator", len(recorded.sequence)))
    for i, j, amount_in, amount_out in recorded.sequence:
        sold, balances, xs = sell(pool, i, j, amount_in)
        assert sold.amount_out == amount_out
        done = settle(xs, sold.k0, pool.price_scale, rules_of(pool), pool.profit)
        moved += done.price_scale != pool.price_scale
        pool = replace(pool, balances=tuple(balances), price_scale=done.price_scale, d=done.d, profit=done.profit)
    assert moved == moves


def test_a_swap_leaves_what_the_sequence_leaves():
    recorded = POOLS["0x1fb84fa6d252762e8367ea607a6586e09dcebe3d on Arbitrum, ETH+, WETH"]
    pool, out = recorded.pool, []
    for i, j, amount_in, _ in recorded.sequence:
        hop, pool = pool.swap_exact_in(pool.tokens[i], pool.tokens[j], amount_in)
        out.append(hop.amount_out)
    assert out == [amount_out for *_, amount_out in recorded.sequence]
