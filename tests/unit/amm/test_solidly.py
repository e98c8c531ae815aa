"""The Solidly family against answers of deployed contracts, and against the invariant itself."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from functools import partial

import pytest

from routing_engine.amm.camelot import owner_fee
from routing_engine.amm.solidly import (
    Solver,
    balance_after,
    charge,
    fits,
    gross,
    holds_invariant,
    is_fine,
    largest_balance,
    slope,
    stable_amount_out,
)
from routing_engine.fixed_point import WAD
from tests.support.solidly import DOLA_TO_USDBC, DOLA_USDBC, TBTC_TO_WETH, TBTC_WETH, USDBC_TO_DOLA, WETH_TO_TBTC

ALETH_FRXETH = (165363502891169888414, 70707320014274856246)
"""Velodrome v2's stable pool 0x1ad06ca54de04dbe9e2817f4c13ecb406dcbeaf0 on Optimism, fee 5 bps."""


@pytest.mark.parametrize("solver", Solver)
@pytest.mark.parametrize(
    ("reserves", "scales", "answers"),
    [(DOLA_USDBC, (WAD, 10**6), DOLA_TO_USDBC), (DOLA_USDBC[::-1], (10**6, WAD), USDBC_TO_DOLA)],
    ids=["18 to 6 decimals", "6 to 18 decimals"],
)
def test_a_deployed_stable_pools_answers(solver, reserves, scales, answers, record_property):
    """Both solvers find the same balance in a pool of this size."""
    record_property("vector_cases", ("solidly, stable: answers of deployed pools", len(answers)))
    for amount_in, amount_out in answers:
        net = amount_in - charge(amount_in, 3_000)
        assert stable_amount_out(net, *reserves, scales, solver) == amount_out


@pytest.mark.parametrize(
    ("reserves", "answers"), [(TBTC_WETH, TBTC_TO_WETH), (TBTC_WETH[::-1], WETH_TO_TBTC)], ids=["sell 0", "sell 1"]
)
def test_a_deployed_volatile_pools_answers(reserves, answers, record_property):
    record_property("vector_cases", ("solidly, volatile: answers of deployed pools", len(answers)))
    for amount_in, amount_out in answers:
        net = amount_in - charge(amount_in, 3_000)
        assert net * reserves[1] // (reserves[0] + net) == amount_out


@pytest.mark.parametrize(
    ("solver", "reserves", "scale", "fee_pips", "amount_in", "amount_out"),
    [
        (Solver.SECOND, ALETH_FRXETH, WAD, 500, 7070085324939016, 6210478971090850),
        (Solver.SECOND, ALETH_FRXETH[::-1], WAD, 500, 7070085324939016, 8040168956751976),
        # Swaps of Velodrome v1's USDC/USDT pool on Optimism: 0x6d1ebd5f… and 0x5c92ec5d… of November 2023.
        (Solver.FIRST, (1705017421, 2052127179), 10**6, 500, 36283954, 36307464),
        (Solver.FIRST, (6110873648, 6651345170), 10**6, 500, 302268108, 302127234),
        # Camelot's wstETH/WETH pool on Arbitrum, fee 40 / 100000.
        (Solver.FIRST, (1481252219344464578434, 3236537897421945761324), WAD, 400, 10**21, 1022352385458443941729),
    ],
)
def test_answers_stated_by_another_library(solver, reserves, scale, fee_pips, amount_in, amount_out, record_property):
    """Numbers of KyberNetwork/kyberswap-dex-lib's tests."""
    record_property("vector_cases", ("solidly, stable: swaps and answers stated by another library", 1))
    net = amount_in - charge(amount_in, fee_pips)
    assert stable_amount_out(net, *reserves, (scale, scale), solver) == amount_out


def random_case(rng: random.Random) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Return reserves, scales and a net input of a pool that is large enough to be exact."""
    while True:
        scales = 10 ** rng.choice((6, 8, 18)), 10 ** rng.choice((6, 8, 18))
        reserves = tuple(int(10 ** rng.uniform(0, 9) * scale) for scale in scales)
        if is_fine(reserves[0] * WAD // scales[0], reserves[1] * WAD // scales[1]):
            return reserves, scales, max(1, int((reserves[0] * 100) ** rng.random()))


def test_the_second_solvers_answer_is_the_largest_that_the_pool_accepts():
    rng = random.Random(41)
    for _ in range(3_000):
        (x, y), scales, net = random_case(rng)
        amount_out = stable_amount_out(net, x, y, scales, Solver.SECOND)
        assert holds_invariant((x, y), (x + net, y - amount_out), scales)
        assert amount_out + 1 >= y or not holds_invariant((x, y), (x + net, y - amount_out - 1), scales)


def test_the_first_solver_is_at_most_a_unit_off():
    rng = random.Random(42)
    for _ in range(3_000):
        (x, y), scales, net = random_case(rng)
        second = stable_amount_out(net, x, y, scales, Solver.SECOND)
        assert abs(stable_amount_out(net, x, y, scales, Solver.FIRST) - second) <= 1


def test_the_answer_solves_the_equation():
    """Solve x**3 * y + x * y**3 = k with 60 digits instead: the integers differ by their rounding only."""
    rng = random.Random(43)
    for _ in range(500):
        (x, y), scales, net = random_case(rng)
        with localcontext(prec=60):
            before, kept, grown = Decimal(x) / scales[0], Decimal(y) / scales[1], Decimal(x + net) / scales[0]
            k = before**3 * kept + before * kept**3
            rest = kept
            for _ in range(200):
                rest -= (grown**3 * rest + grown * rest**3 - k) / (grown**3 + 3 * grown * rest**2)
            exact = (kept - rest) * scales[1]
        assert abs(stable_amount_out(net, x, y, scales, Solver.SECOND) - exact) <= 3


def test_fees_are_rounded_down_and_undone():
    assert charge(666, 1_500) == 0
    assert charge(667, 1_500) == 1
    for fee_pips in (0, 1, 500, 3_000, 999_999):
        for net in (1, 2, 999, 10**18):
            amount = gross(net, fee_pips)
            assert amount - charge(amount, fee_pips) >= net > amount - 1 - charge(amount - 1, fee_pips)


def test_the_owner_of_camelot_takes_a_share_of_the_fee():
    assert owner_fee(10**18, 400, 400_000) == 16 * 10**13
    assert owner_fee(1, 400, 400_000) == 0


@pytest.mark.parametrize("y", [1, WAD, 10**24, 10**29, 10**32])
def test_up_to_the_largest_balance_nothing_overflows(y):
    x = largest_balance(y)
    products = (x * (y * y // WAD * y // WAD), x * x // WAD * x, 3 * x * (y * y // WAD), y * y // WAD * y)
    products += ((x * x // WAD * x // WAD) * y, (x * y // WAD) * (x * x // WAD + y * y // WAD))
    assert max(products[:3] + products[4:]) < 2**256
    assert x > 0 or y >= 10**29


@pytest.mark.parametrize("solver", Solver)
def test_without_a_gradient_there_is_no_answer(solver):
    assert slope(10, 10) == 0
    assert balance_after(10, 5, 10, solver) is None


def test_the_second_solver_gives_up_where_it_cannot_settle():
    """A pool of 0.0021 and 2.8 million tokens: the contract reverts with ``!y``."""
    reserves, scales = (2123980642708739, 2768977465625), (WAD, 10**6)
    assert stable_amount_out(1295598857849653, *reserves, scales, Solver.SECOND) is None
    assert not is_fine(reserves[0], reserves[1] * 10**12)


def test_beyond_the_largest_balance_something_overflows():
    for y in (1, WAD, 10**24, 10**29, 10**31):
        x = largest_balance(y)
        assert fits(x, y)
        assert not fits(x + x // 10**12, y)
    assert largest_balance(10**38) == 0


@pytest.mark.parametrize("solver", Solver)
def test_balances_that_overflow_have_no_answer(solver):
    for x, y, net in ((10**26, 10**26, 10**32), (10**26, 10**38, 10**26), (10**26, 10**26, 2**254)):
        assert stable_amount_out(net, x, y, (WAD, WAD), solver) is None


def test_the_second_solver_asks_with_the_scales_of_the_pools_tokens():
    """Of tokens with 18 decimals the question is right; of fewer it overflows, or is answered too early."""
    solve = partial(stable_amount_out, 145452, 5436052, 1988545, (10**6, 10**6), Solver.SECOND)
    assert solve() == 116282
    assert solve((10**6, 10**6)) is None
