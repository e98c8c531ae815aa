"""Crypto pools at the edges of their mathematics: other methods of solution, reverts, prices that would move too far.

States were found by search; expected balances are those of a second derivation with 80 digits, where there is one.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from adapters.testing import check_market
from routing_engine.amm import stableswap
from routing_engine.amm.cryptoswap.curves import _newton_step, geometric_mean, newton_balance, newton_invariant
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, Profit, find_invariant, settle, solve
from routing_engine.fixed_point import WAD
from routing_engine.markets.cryptoswap.direction import CryptoDirection
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from tests.support.strategies import make_token
from tests.unit.amm.test_cryptoswap import imbalance_of, root

CLOSED = CryptoRules(Method.CLOSED_FORM, 540_000, 10**14, 1, 2, 3)
STABLE = CryptoRules(Method.STABLE, 4_000_000, 1, 3_000_000, 30_000_000, 10**15)
EVEN = [10**24, 10**24]

State = tuple[list[int], int, int, int, int]
"""Balances, coin solved for, D, ann and gamma."""

NO_REAL_ROOT: list[State] = [
    ([3820819958442146816, 990960172480505600], 0, 4474222571816002048, 24233803, 117051895831860208),
    (
        [65512215635737051136, 96709722940463952, 919284489710014464],
        0,
        5681507432638688256,
        17030543,
        28543874445295336,
    ),
]
"""Where Cardano's formula has no real square root, so that the contract iterates."""

SMALL_SECOND_COEFFICIENT: State = (
    [217099884089902301184, 35818346985596051456, 735989753130183168], 2, 233482052401468932096, 200587840,
    26339142844589120,
)  # fmt: skip
"""A cubic that the contract scales up instead of down, to keep its digits."""


def solve_at(state: State, method: Method = Method.CLOSED_FORM) -> tuple[int, int]:
    xs, j, d, ann, gamma = state
    return solve(xs, j, d, CryptoRules(method, ann, gamma, 0, 0, 0))


@pytest.mark.parametrize("state", [*NO_REAL_ROOT, SMALL_SECOND_COEFFICIENT])
def test_every_way_to_the_balance_solves_the_invariant(state: State) -> None:
    xs, j, d, ann, gamma = state
    with localcontext(prec=80):

        def excess(y: Decimal) -> Decimal:
            balances = [y if k == j else Decimal(x) for k, x in enumerate(xs)]
            return imbalance_of(balances, Decimal(d), Decimal(ann) / 10_000, Decimal(gamma) / WAD)

        found, _ = solve_at(state)
        expected = root(excess, Decimal(1), Decimal(10 * d))
        assert abs(found - expected) < expected / 10**9


@pytest.mark.parametrize("state", NO_REAL_ROOT)
def test_without_a_real_root_the_balance_is_iterated(state: State) -> None:
    xs, j, d, ann, gamma = state
    assert solve_at(state) == (newton_balance(xs, j, d, ann, gamma), 0) == solve_at(state, Method.NEWTON)


@pytest.mark.parametrize(
    "state",
    [
        (
            [10**18, 1456991645336994545678769453006848],
            0,
            417822682781713358812187254063104,
            5919271,
            62942139809259080,
        ),
        ([4081084852714562048, 4402106980753919705088, 1], 2, 109042466334084251648, 972331, 12278294454688494),
    ],
)
def test_an_output_balance_out_of_bounds_reverts(state: State) -> None:
    with pytest.raises(ArithmeticError, match="the output's balance would be out of bounds"):
        solve_at(state)


@pytest.mark.parametrize(
    "state",
    [
        (
            [7654570038580110064965648384, 8721857641447346, 1814299823299740672], 0, 24988021474161827250176, 1158321,
            145465041580058080,
        ),
        ([2282596, 4102103237943], 0, 1302050372521, 9120731, 8914063260085727232),
    ],
)  # fmt: skip
def test_a_balance_that_does_not_converge_reverts(state: State) -> None:
    xs, j, d, ann, gamma = state
    with pytest.raises(ArithmeticError, match="the balance does not converge"):
        newton_balance(xs, j, d, ann, gamma)


@pytest.mark.parametrize(
    ("xs", "d", "message"),
    [
        ([10**17, 10**17], 10**16, "D is out of bounds"),
        ([10**24, 10**22 - 1], 10**24, "too far from balance"),
        ([10**24, 2 * 10**26], 10**24, "too far from balance"),
        ([10**24, 10**26], 10**24, "output's balance"),
    ],
)
def test_the_pools_before_ng_have_bounds_of_their_own(xs: list[int], d: int, message: str) -> None:
    with pytest.raises(ArithmeticError, match=message):
        solve_at((xs, 0, d, 400_000, 10**14), Method.NEWTON)


def test_balances_before_ng_are_bounded_by_the_largest_and_by_d() -> None:
    before_ng = CryptoRules(Method.NEWTON, 400_000, 10**14, 0, 0, 0)
    for xs in ([10**8, 10**8], [10**24, 10**19], [10**24, 10**24, 10**12]):
        with pytest.raises(ArithmeticError, match="the balances are out of bounds"):
            find_invariant(xs, before_ng)
    assert find_invariant([10**24, 10**24], before_ng) == 2 * 10**24


def test_the_mean_of_three_balances_leaves_uint256() -> None:
    with pytest.raises(OverflowError):
        geometric_mean([10**32, 10**32, 10**32])


def test_a_step_of_the_wrong_slope_is_not_taken() -> None:
    assert _newton_step(10**20, 999 * 10**15, 10**21, 10**24, 54_000_000, 10**16) is None


@pytest.mark.parametrize(
    ("xs", "ann", "gamma", "k0", "message"),
    [
        ([281506169167552071073792, 644379050522865790091264], 149461039, 90787030589728480, 1264019142045726146560,
         "D does not converge"),
        ([9041323969392236560384, 7449627201293786284032], 40418963, 16821248305189102, 33318741464501935144960,
         "D has no slope"),
        ([29894992713915054424064, 11570745496572562243584, 52979544350530790752256], 1145335, 3474064222665, 2,
         "too far from balance"),
    ],
)  # fmt: skip
def test_an_invariant_that_cannot_be_found_reverts(xs: list[int], ann: int, gamma: int, k0: int, message: str) -> None:
    with pytest.raises(ArithmeticError, match=message):
        newton_invariant(xs, ann, gamma, k0)


def profit_at(oracle: int) -> Profit:
    """Return profits that are ample for a move of an even pool's price towards `oracle`."""
    worth = geometric_mean([find_invariant(EVEN, CLOSED) // 2] * 2)
    return Profit((oracle,), WAD * 8 // 10, WAD * 9 // 10, worth * 9 // 10, 10**8, 10**14)


@pytest.mark.parametrize("times", [2_000, 3_000])
def test_prices_that_move_too_far_for_the_balances_revert(times: int) -> None:
    """The price goes a fifth of the way to the oracle's; beyond 2,500 times, one balance is less than 1 % of D."""
    profit = profit_at(WAD * (1 + 5 * (times - 1)))
    if times < 2_500:
        assert settle(EVEN, 0, (WAD,), CLOSED, profit).price_scale == (times * WAD,)
    else:
        with pytest.raises(ArithmeticError, match="the new prices are too far from the balances"):
            settle(EVEN, 0, (WAD,), CLOSED, profit)


def test_prices_near_the_oracle_stay() -> None:
    assert settle(EVEN, 0, (WAD,), CLOSED, profit_at(WAD + 10**13)).price_scale == (WAD,)


def test_pools_with_stableswap_mathematics_solve_that_invariant() -> None:
    xs = [3 * 10**24, 2 * 10**24]
    rules = stableswap.Rules(
        amp=STABLE.ann, amp_precision=10_000, product=stableswap.Product.LAST, fee=0, admin_fee=0, multiplier=0,
        spare=0, oracle=False,
    )  # fmt: skip
    d = find_invariant(xs, STABLE)
    assert d == stableswap.invariant(xs, rules)
    assert abs(solve(xs, 1, d, STABLE)[0] - xs[1]) <= 2
    xs[0] += 10**22
    assert solve(xs, 1, d, STABLE) == (stableswap.balance_after(xs, 0, 1, xs[0], d, rules), 0)


def test_pools_with_stableswap_mathematics_conform() -> None:
    balances, price = (3 * 10**12, 2 * 10**24), 11 * WAD // 10
    pool = CryptoSwapPool(
        id="1:0xstable", protocol="curve", tokens=(make_token(1, 6), make_token(2, 18)), balances=balances,
        price_scale=(price,), d=find_invariant([balances[0] * 10**12, balances[1] * price // WAD], STABLE),
        ann=STABLE.ann, gamma=STABLE.gamma, mid_fee=STABLE.mid_fee, out_fee=STABLE.out_fee, fee_gamma=STABLE.fee_gamma,
        method=Method.STABLE,
    )  # fmt: skip
    # Without profits a pool after a swap takes no further one, so nothing is traded twice.
    check_market(pool, samples=6, rounding_units=10, dip=1e-9, serves_beyond=True)


@pytest.mark.parametrize("third", [13, 20])
def test_sales_end_where_the_contract_finds_the_input_too_far_from_balance(third: int) -> None:
    """With little of the third coin the balance sold reaches a hundred times D before the other runs out."""
    xs = [1_760 * 10**21, 1_760 * 10**21, third * 10**21]
    rules = CLOSED._replace(gamma=10**11, ann=270_000)
    way = CryptoDirection(xs, (1, 1, 1), (WAD, WAD), find_invariant(xs, rules), rules, 0, 1)
    assert 0 < way.sell(way.most).amount_out < xs[1]
    assert way.gives(way.most * 106 // 100) == 0
    with pytest.raises(ArithmeticError, match="too far from balance"):
        way.sell(way.most * 106 // 100)


def test_a_direction_whose_output_is_nearly_gone_is_closed() -> None:
    xs = [1_571 * 10**21, 15 * 10**21, 1_571 * 10**21]
    rules = CLOSED._replace(gamma=10**11, ann=270_000)
    assert CryptoDirection(xs, (1, 1, 1), (WAD, WAD), find_invariant(xs, rules), rules, 0, 1).most == 0
