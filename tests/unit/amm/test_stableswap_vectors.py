"""StableSwap against answers of deployed contracts, read by the authors of KyberSwap's dex-lib with ``get_dy``.

Source: KyberNetwork/kyberswap-dex-lib, the tests of curve/plain, curve/stable-ng and curve/stable-meta-ng.
Numbers only; which rounding of D each contract has follows from its template.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from routing_engine.amm.stableswap import Product
from routing_engine.markets.stableswap.direction import StableDirection
from routing_engine.markets.stableswap.pool import StableSwapPool
from tests.support.strategies import make_token

RATE_18, RATE_6, RATE_2 = 10**18, 10**30, 10**34


@dataclass(frozen=True)
class Recorded:
    """A pool in a recorded state, and (coin sold, coin bought, amount in, amount out)."""

    balances: tuple[int, ...]
    rates: tuple[int, ...]
    amp: int
    fee: int
    cases: tuple[tuple[int, int, int, int], ...]
    product: Product = Product.EACH
    multiplier: int = 0

    def pool(self) -> StableSwapPool:
        return StableSwapPool(
            id="1:0xrecorded",
            protocol="curve",
            tokens=tuple(make_token(40 + number) for number in range(len(self.rates))),
            balances=self.balances,
            rates=self.rates,
            amp=self.amp,
            fee_e10=self.fee,
            admin_fee_e10=5_000_000_000,
            product=self.product,
            multiplier_e10=self.multiplier,
            oracle=self.multiplier > 0,
        )


POOLS = {
    "0xe7a3b38c39f97e977723bd1239c3470702568e7b, plain 3 basic": Recorded(
        (103902458912250371998101, 96026429950922739854657, 90684626303),
        (RATE_18, RATE_18, RATE_6),
        1_000,
        4_000_000,
        (
            (0, 1, 500000000000000, 496315310333753),
            (0, 1, 50000000000000000, 49631528847328147),
            (0, 1, 5000000000000000000, 4963131024216305126),
            (0, 2, 50000000000000000, 49364),
            (0, 2, 5000000000000000000, 4936384),
            (2, 1, 5000, 5025079238286081),
            (2, 1, 500045, 502552896527853049),
        ),
    ),
    "0x94b17476a93b3262d87b9a326965d1e91f9c13e7, plain 2 ETH with moving averages": Recorded(
        (8189776041162322264444, 9661706603857954240258),
        (RATE_18, RATE_18),
        40_000,
        4_000_000,
        (
            (0, 1, 500000000000000, 500008393783392),
            (0, 1, 500000000000000000, 500008321109370981),
            (1, 0, 500000000000000000, 499591620339898039),
            (1, 0, 5000000000000000000, 4995909662946962499),
        ),
    ),
    "0xb9446c4ef5ebe66268da6700d26f96273de3d571, plain 3 balances": Recorded(
        (549022857960890312641141, 1075362632212, 46720010),
        (RATE_18, RATE_6, RATE_2),
        20_000,
        4_000_000,
        (
            (0, 1, 500000000000000, 501),
            (0, 1, 50000000000000000, 50169),
            (0, 2, 5000000000000000000, 499),
            (2, 1, 1020, 10248489),
        ),
    ),
    "0xda5b670ccd418a187a3066674a8002adc9356ad1, plain 4 optimised": Recorded(
        (310644979221390280, 2806169166643327027, 360381510649494878, 218999711791367011),
        (RATE_18,) * 4,
        1_000,
        4_000_000,
        (
            (0, 3, 500000000000000, 395568275467422),
            (0, 3, 50000000000000000, 35467697034453723),
            (2, 1, 50000000000000000, 96997844562253156),
            (2, 1, 50000000000000123, 96997844562253382),
            (2, 3, 50000000000000123, 32813108411779300),
        ),
        Product.LAST,
    ),
    "0x1539c2461d7432cc114b0903f1824079bfca2c92, plain 2 with the price of a vault": Recorded(
        (207488005116042557636229, 47921035344869338429831),
        (RATE_18, 1057419823498475822),
        150_000,
        1_000_000,
        (
            (0, 1, 50000000000000123, 47184327843196292),
            (0, 1, 500000000000123, 471843279437909),
            (1, 0, 500000000000123, 529730979292097),
            (1, 0, 50000000000000123, 52973097809547429),
        ),
    ),
    "0x6eb2dc694eb516b16dc9fbc678c60052bbdd7d80 on Arbitrum, plain 2 with a price oracle": Recorded(
        (171562283322052190070, 159666449951883581558),
        (RATE_18, 1158379174506084879),
        5_000,
        4_000_000,
        (
            (0, 1, 50000000000000123, 43210033023565492),
            (0, 1, 500000000000123, 432102703851362),
            (1, 0, 500000000000123, 578103325620533),
            (1, 0, 50000000000000123, 57809965215424298),
        ),
    ),
    "0x1005f7406f32a61bd760cfa14accd2737913d546, plain 2 basic, drained": Recorded(
        (69265278, 140296574),
        (RATE_6, RATE_6),
        150_000,
        3_000_000,
        (
            (0, 1, 100000000000000, 140254485),
            (0, 1, 1000000000000, 140254485),
            (0, 1, 100000000, 99936588),
            (0, 1, 100002233, 99938816),
            (1, 0, 20000, 19982),
            (1, 0, 3000200, 2997456),
            (1, 0, 88001800, 69067695),
            (1, 0, 100000000000000, 69244498),
        ),
    ),
    "0x3adf984c937fa6846e5a24e0a68521bdaf767ce1 on Arbitrum, NG": Recorded(
        (8994725349517509957774712, 1568153728639),
        (RATE_18, RATE_6),
        100_000,
        1_000_000,
        (
            (0, 1, 50000000000000000, 49719),
            (0, 1, 500000000000000001, 497190),
            (0, 1, 5000000000000000012, 4971903),
            (1, 0, 5000001, 5026592848229394394),
            (1, 0, 500000, 502659192342457080),
            (1, 0, 50000, 50265919315764975),
            (1, 0, 5000, 5026591932391690),
        ),
        Product.LAST,
        50_000_000_000,
    ),
    "0xdc40d14accd5629bbfa65d057f175871628d13c7 on Arbitrum, NG, drained": Recorded(
        (50980, 75958),
        (RATE_6, RATE_6),
        20_000,
        4_000_000,
        ((0, 1, 5000000, 75900), (1, 0, 5000000, 50940)),
        Product.LAST,
        20_000_000_000,
    ),
    "0x9e10f9fb6f0d32b350cee2618662243d4f24c64a, NG metapool": Recorded(
        (1400402037639032709376918, 389831262966377525851519),
        (RATE_18, 1000073197173325044),
        15_000,
        4_000_000,
        (
            (0, 1, 50000000000000000, 49183840532051551),
            (0, 1, 500000000000000000, 491838395529404280),
            (0, 1, 5000000000000000000, 4918382977155694248),
            (0, 1, 50000000000000000000, 49183731951271033406),
            (1, 0, 50000000000000000000, 50781231606587338678),
            (1, 0, 5000000000000000000, 5078133338462932470),
            (1, 0, 500000000000000000, 507813435641987387),
            (1, 0, 50000000000000000, 50781344581152143),
        ),
        Product.LAST,
        20_000_000_000,
    ),
    "0x2482dfb5a65d901d137742ab1095f26374509352, NG metapool over an old base pool": Recorded(
        (4556837199510378636842480, 113547535917173130561003),
        (RATE_18, 1030506792713195533),
        100_000,
        4_000_000,
        (
            (0, 1, 50000000000000000, 40553074115672826),
            (0, 1, 500000000000000000, 405530528618569204),
            (0, 1, 5000000000000000000, 4055284031866541673),
            (0, 1, 50000000000000000000, 40550714375305973410),
            (1, 0, 50000000000000000000, 61553361367675214388),
            (1, 0, 5000000000000000000, 6155733280148991567),
            (1, 0, 500000000000000000, 615577301147228989),
            (1, 0, 50000000000000000, 61557769849618186),
        ),
        Product.LAST,
        20_000_000_000,
    ),
}
"""By address and template."""


@pytest.mark.parametrize("recorded", POOLS.values(), ids=POOLS)
def test_quotes_equal_what_the_deployed_contract_answered(recorded, record_property):
    pool = recorded.pool()
    record_property("vector_cases", ("curve stableswap: answers of deployed contracts", len(recorded.cases)))
    for i, j, amount_in, amount_out in recorded.cases:
        direction = StableDirection(pool.balances, pool.rates, pool.rules, i, j)
        assert direction.sell(amount_in).amount_out == amount_out
        if amount_in <= direction.most:
            assert pool.swap_exact_in(pool.tokens[i], pool.tokens[j], amount_in)[0].amount_out == amount_out


def test_where_more_input_buys_less_no_search_goes():
    recorded = POOLS["0xdc40d14accd5629bbfa65d057f175871628d13c7 on Arbitrum, NG, drained"]
    pool = recorded.pool()
    direction = StableDirection(pool.balances, pool.rates, pool.rules, 0, 1)
    assert direction.sell(5_000_000).amount_out > direction.sell(50_000_001).amount_out == 75897
    hop, _ = pool.swap_exact_in(*pool.tokens[:2], 5_000_000)  # as the contract does
    assert hop.amount_out == direction.sell(5_000_000).amount_out
    assert pool.limits(*pool.tokens[:2]).max_amount_in < 5_000_000  # but no search goes there


@pytest.mark.shared_data
def test_three_hundred_answers_of_a_genuine_ng_contract(shared_data, record_property):
    recorded = json.loads((shared_data / "facts" / "curve_ng_vectors.json").read_text())
    pool = Recorded(
        tuple(map(int, recorded["balances"])),
        tuple(map(int, recorded["rates"])),
        recorded["A_precise"],
        recorded["fee"],
        (),
        Product.LAST,
        recorded["offpeg_fee_multiplier"],
    ).pool()
    cases = recorded["cases_i_j_dx_dy"]
    for i, j, amount_in, amount_out in cases:
        assert pool.swap_exact_in(pool.tokens[i], pool.tokens[j], int(amount_in))[0].amount_out == int(amount_out)
    assert len(cases) == 300
    record_property("vector_cases", ("curve stableswap NG: answers of the contract on a local chain", 300))
