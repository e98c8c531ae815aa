"""What the contracts' own rounding costs each kind of market: the options with which it passes `check_market`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from routing_engine.amm.ekubo.ticks import Q128
from routing_engine.amm.stableswap import FEE_SCALE
from routing_engine.fixed_point import PIPS, WAD
from routing_engine.market import Market
from routing_engine.markets import (
    BalancerLinearPool,
    BalancerStablePool,
    BalancerV1Pool,
    BancorPool,
    ConcentratedPool,
    CryptoSwapPool,
    EkuboPool,
    FluidPool,
    LadderMarket,
    SolidlyPool,
    StableSwapPool,
    StargateLane,
    WeightedPool,
)
from routing_engine.markets.fluid.pool import OFF
from routing_engine.markets.stableswap.pool import Accounting
from routing_engine.model import Token
from tests.support.balancer_pools import linear_rounding, stable_rounding, v1_rounding, weighted_rounding
from tests.support.stableswap import greatest_fee
from tests.support.strategies import most_steps

Options = dict[str, Any]

FEE_STEPS = 4e-10
"""A fee that depends on the amount is counted in 1e-10, and so is the balance it depends on."""


@singledispatch
def tolerances(market: Market) -> Options:
    """Return options of `check_market` for a market: none beyond its defaults, unless its kind is listed below."""
    return {}


@tolerances.register
def _(pool: ConcentratedPool) -> Options:
    return {"rounding_units": 4 * most_steps(pool)}


@tolerances.register
def _(pool: SolidlyPool) -> Options:
    """Each part of a trade rounds its fee down, and the fee leaves the pool.

    Stable pools of the second generation fail at single amounts; the limits of stable pools leave out the last part in
    1e12, and pools that are too small for their arithmetic.
    """
    return {"split_units": 2, "serves_beyond": pool.stable, "has_gaps": pool.stable}


@tolerances.register
def _(pool: BancorPool) -> Options:
    """The fee stays in the pool, in the token bought, and is rounded down once more with a second trade."""
    return {"split_gain": pool.fee_pips / PIPS, "split_units": 1}


@tolerances.register
def _(pool: FluidPool) -> Options:
    """One adjusted unit, of either token, for each of two pools at each of four steps.

    The contract divides an input between its two pools before it takes the fee: not quite the best division, by an
    amount of the second order in the fee.
    """
    units = 8 * 10 ** max(0, pool.token0.decimals - 12, pool.token1.decimals - 12)
    both_on, gain = OFF not in (pool.collateral, pool.debt), 1e-12 + 1e-5 * (pool.fee_pips / PIPS) ** 2
    return {"rounding_units": units, "split_units": units, "split_gain": gain if both_on else 0.0}


@tolerances.register
def _(pool: EkuboPool) -> Options:
    """Units of each step, and what one bit of the price is worth at the liquidity."""
    scale = pool.sqrt_ratio / Q128
    most = max([pool.liquidity, *(abs(net) for _, net in pool.ticks)])
    by_price = 4 * len(pool.ticks or "1") * most * max(scale, 1 / scale) * 2.0**-61
    return {"rounding_units": 4 * (len(pool.ticks) + 2) + int(by_price)}


@tolerances.register
def _(pool: StableSwapPool) -> Options:
    """D is rounded at every step of its iteration, and some contracts add one to each divisor on the way.

    The first lending pools round down both what they pay and what they count as left: a unit is lost between the two,
    so that the balance left is dearer by what a unit costs there.
    """
    dip = FEE_STEPS if pool.multiplier_e10 > FEE_SCALE else 0.0
    lost = 2 * max(_last_unit(pool, *edge) for edge in pool.edges()) if pool.accounting is Accounting.INVARIANT else 0
    return {
        "rounding_units": 16,
        "split_units": 16,
        "split_gain": greatest_fee(pool),
        "dip": dip,
        "trip_units": lost,
        "serves_beyond": pool.oracle or pool.multiplier_e10 > FEE_SCALE,
    }


def _last_unit(market: Market, token_in: Token, token_out: Token) -> int:
    """Return what the last unit that can be bought costs, the dearest one."""
    most = market.limits(token_in, token_out).max_amount_in
    bought = market.swap_exact_in(token_in, token_out, most)[0].amount_out
    return most - market.swap_exact_out(token_in, token_out, bought - 1)[0].amount_in if bought > 1 else most


@tolerances.register
def _(pool: CryptoSwapPool) -> Options:
    """The closed form is rounded to a few units, the more of them the larger the pool.

    Limits leave out trades in which this rounding shows, and those that nearly empty the pool.
    """
    options: Options = {"rounding_units": 64, "split_units": 64, "split_gain": pool.out_fee / FEE_SCALE}
    return options | {"dip": FEE_STEPS, "serves_beyond": True}


@tolerances.register
def _(pool: WeightedPool) -> Options:
    units = weighted_rounding(pool)
    return {"rounding_units": units, "split_units": units}


@tolerances.register
def _(pool: BalancerStablePool) -> Options:
    """The fee stays in the pool, so the second of two trades may find a deeper one."""
    units = stable_rounding(pool)
    return {"rounding_units": units, "split_units": units, "split_gain": pool.fee_e18 / WAD}


@tolerances.register
def _(pool: BalancerV1Pool) -> Options:
    """A cut series pays up to 1e-10 less than the power, and less of that for two trades than for one."""
    units = v1_rounding(pool)
    return {"rounding_units": units, "split_units": units, "split_gain": 1e-8}


@tolerances.register
def _(pool: BalancerLinearPool) -> Options:
    """Main balances are rounded down, which favours the trader by a unit, or by more when few shares remain.

    What remains when all main tokens are gone are the wrapped ones; a unit beside these moves the price of all shares.
    """
    units, main, wrapped = linear_rounding(pool), 10 ** (18 - pool.tokens[0].decimals), pool.balances[1]
    left = wrapped * 10 ** (18 - pool.tokens[1].decimals) * pool.rate_e18 // WAD
    trip = 2 + max(pool.balances) // WAD + 4 * max(pool.balances) * main // max(1, left)
    return {"rounding_units": units, "split_units": units, "trip_units": trip}


@tolerances.register
def _(ladder: LadderMarket) -> Options:
    return {"rounding_units": 2 * len(ladder.levels)}


@tolerances.register
def _(lane: StargateLane) -> Options:
    """A larger zone's fee holds for the whole amount: more may give less, and two amounts may beat one."""
    step = 1.002 * (lane.terms.fee3_pips - lane.terms.fee1_pips) / PIPS
    gain = step / (1 - lane.terms.fee3_pips / PIPS)
    shared_unit = 10 ** (max(lane.token_in.decimals, lane.token_out.decimals) - 6)
    options: Options = {"rounding_units": 4 * shared_unit}
    if gain > 0:
        options |= {"split_gain": gain, "split_units": 2 * 10 ** (lane.token_in.decimals - 6), "dip": gain}
    return options
