"""Fluid pools as markets: directions, limits, states after a swap, impossible states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.fluid import Breach
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.markets.fluid.pool import OFF, FluidPool
from routing_engine.model import NATIVE_ADDRESS, Token
from tests.support.strategies import make_token

WSTETH = make_token(1)
ETH = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
POOL = FluidPool(
    id="1:0xfluid",
    protocol="fluid_v1",
    token0=WSTETH,
    token1=ETH,
    fee_pips=100,
    center_price=1_180_000 * 10**21,
    collateral=(2169934539358, 19563846299171, 62490032619260838, 73741038977020279),
    debt=(2169108220421, 19572550738602, 62511862774117387, 73766803277429176),
    withdrawable=(10**24, 10**24),
    borrowable=(10**24, 10**24),
)


def test_the_two_pools_are_rounded_apart():
    hop, _ = POOL.swap_exact_in(WSTETH, ETH, 10**18 + 999_999)
    assert hop.amount_out == (588921080416 + 590996321711) * 10**6
    assert hop.amount_out == POOL.swap_exact_in(WSTETH, ETH, 10**18)[0].amount_out


def test_the_state_after_a_swap():
    hop, after = POOL.swap_exact_in(ETH, WSTETH, 8 * 10**17)
    taken = 339667228160, 338201638990
    assert hop.amount_out == sum(taken) * 10**6
    net = 400864816574 * 999_900 // 10**6
    assert after.collateral == (
        2169934539358 - taken[0], 19563846299171 + net, 62490032619260838 - taken[0], 73741038977020279 + net,
    )  # fmt: skip
    assert after.debt[0] == 2169108220421 - taken[1]
    assert after.withdrawable == (10**24 - taken[0] * 10**6, 10**24)
    assert after.borrowable == (10**24 - taken[1] * 10**6, 10**24)


def test_a_fee_is_itemised_in_the_token_sold():
    hop, _ = POOL.swap_exact_in(WSTETH, ETH, 10**18)
    assert [(fee.amount, fee.token, fee.name, fee.included) for fee in hop.fees] == [(10**14, WSTETH, "lp_fee", True)]


@pytest.mark.parametrize(
    ("change", "amount", "reason", "detail"),
    [
        ({}, 0, Refusal.AMOUNT_TOO_LOW, "less than one unit"),
        ({}, 10**12 - 1, Refusal.AMOUNT_TOO_LOW, "less than one unit"),
        ({"withdrawable": (10**24, 10**17)}, 10**18, Refusal.INSUFFICIENT_LIQUIDITY, Breach.WITHDRAWABLE),
        ({"borrowable": (10**24, 10**17)}, 10**18, Refusal.INSUFFICIENT_LIQUIDITY, Breach.BORROWABLE),
        ({}, 10**21, Refusal.INSUFFICIENT_LIQUIDITY, Breach.RESERVES),
        ({"collateral": OFF, "debt": OFF}, 10**18, Refusal.INSUFFICIENT_LIQUIDITY, Breach.HALF_OF_RESERVES),
    ],
)
def test_refusals_say_why(change, amount, reason, detail):
    with pytest.raises(QuoteRefused, match=str(detail)) as refused:
        replace(POOL, **change).swap_exact_in(WSTETH, ETH, amount)
    assert refused.value.reason is reason


def test_the_largest_input_is_the_last_that_a_limit_serves():
    """Outputs are counted in 12 decimals: 684.26 units of them are borrowable, and 684 are paid for many inputs."""
    pool = replace(
        POOL, token0=make_token(1, 12), fee_pips=10_000, center_price=10**23, collateral=OFF,
        debt=(16790056414589, 362880999999, 10000033600112896, 999999999999), borrowable=(10**32, 684_260_061),
    )  # fmt: skip
    most = pool.limits(pool.token0, ETH).max_amount_in
    assert pool.swap_exact_in(pool.token0, ETH, most)[0].amount_out == 684 * 10**6
    with pytest.raises(QuoteRefused, match=str(Breach.BORROWABLE)):
        pool.swap_exact_in(pool.token0, ETH, most + 1)


def test_a_direction_of_which_nothing_can_be_taken_out_is_closed():
    pool = replace(POOL, withdrawable=(0, 10**24), borrowable=(0, 10**24))
    assert pool.edges() == ((WSTETH, ETH),)
    assert pool.limits(ETH, WSTETH).max_amount_in == 0
    closed = pool.curve(ETH, WSTETH)
    assert closed.x_max < closed.x_min
    with pytest.raises(QuoteRefused):
        pool.swap_exact_out(ETH, WSTETH, 1)


def test_a_pool_that_is_switched_off_has_no_price():
    pool = replace(POOL, collateral=OFF, debt=OFF)
    assert pool.edges() == ()
    assert pool.spot_price(WSTETH, ETH) == 0.0
    assert pool.curve(WSTETH, ETH).x_max == 0.0


def test_the_better_pool_trades_alone_until_the_prices_meet():
    pool = replace(POOL, debt=(2169108220421, 19572550738602, 62511862774117387, 73760000000000000))
    curve = pool.curve(WSTETH, ETH)
    assert len(curve.pieces) == 2
    meeting = int(curve.pieces[1][0])
    for amount, both in ((meeting * 99 // 100, False), (meeting * 101 // 100, True)):
        _, after = pool.swap_exact_in(WSTETH, ETH, amount)
        assert (after.debt != pool.debt) is both


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("center_price", 0),
        ("collateral", (1, 1, 0, 5)),
        ("debt", (6, 1, 5, 5)),
        ("debt", (-1, 1, 5, 5)),
        ("withdrawable", (-1, 0)),
        ("borrowable", (0, -1)),
        ("fee_pips", 10**6),
    ],
)
def test_impossible_states_name_their_field(field, value):
    with pytest.raises(InvalidMarket) as invalid:
        replace(POOL, **{field: value})
    assert invalid.value.field == field


@pytest.mark.parametrize(("field", "value"), [("reserves", [[1, 1, 5, 5]]), ("limits", [[1, 1]])])
def test_records_need_both_rows(field, value):
    record = POOL.to_record() | {field: value}
    with pytest.raises(InvalidMarket, match="must be 2 rows: "):
        FluidPool.from_record(record, {token.key: token for token in POOL.tokens})
