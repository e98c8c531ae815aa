"""One market of every kind in a state like that of deep main-net pools, with an amount of some thousandths of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from routing_engine.amm.balancer.stable import Invariant
from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick as v3_ratio_at_tick
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, find_invariant, scaled
from routing_engine.amm.ekubo.ticks import round_ratio, sqrt_ratio_at_tick
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.fixed_point import WAD
from routing_engine.market import Market
from routing_engine.markets import (
    BalancerLinearPool,
    BalancerStablePool,
    BalancerV1Pool,
    BancorPool,
    ConcentratedPool,
    ConstantProductPool,
    CryptoSwapPool,
    EkuboPool,
    FluidPool,
    Fork,
    LadderMarket,
    Level,
    NativeWrap,
    SolidlyPool,
    StableSwapPool,
    StargateLane,
    Vault,
    WeightedPool,
)
from routing_engine.markets.bridges import across_lane
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

ETHER = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A market and what is sold to it."""

    name: str
    market: Market
    token_in: Token
    token_out: Token
    amount: int


def _token(number: int, decimals: int, chain_id: int = 1) -> Token:
    return Token(chain_id=chain_id, address=f"0x{number:040x}", symbol=f"T{number}", decimals=decimals)


ETH_LIKE, DOLLAR, DOLLAR_18, DOLLAR_B = _token(1, 18), _token(2, 6), _token(3, 18), _token(4, 6)
BITCOIN, OWN = _token(5, 8), _token(6, 18)
PAIR = {"id": "1:0xpool", "token0": ETH_LIKE, "token1": DOLLAR}
DOLLARS = {"id": "1:0xpool", "tokens": (DOLLAR_18, DOLLAR, DOLLAR_B)}
FAR_DOLLAR = _token(2, 6, chain_id=8453)


def laddered_pool(*, largest_amount: int | None = None, protocol_fee_pips: int = 0) -> ConcentratedPool:
    """Return a pool of 200 positions of falling width around 2,000 dollars: a tick at each of 400 multiples of 10."""
    centre = -200_310
    nets: dict[int, int] = {}
    for step in range(1, 201):
        for index, sign in ((centre - 10 * step, 1), (centre + 10 * step, -1)):
            nets[index] = nets.get(index, 0) + sign * 10**15
    return ConcentratedPool(
        **PAIR,
        protocol="uniswap_v3",
        fee_pips=500,
        tick_spacing=10,
        sqrt_price_x96=v3_ratio_at_tick(centre) + 1,
        tick=centre,
        liquidity=200 * 10**15,
        ticks=tuple(sorted(nets.items())),
        protocol_fee0_pips=protocol_fee_pips,
        protocol_fee1_pips=protocol_fee_pips,
        **({} if largest_amount is None else {"largest_amount": largest_amount}),
    )


def amount_across(pool: ConcentratedPool, ticks: int) -> int:
    """Return the least sale of token 0 that crosses so many initialised ticks."""
    low, high = 1, pool.limits(pool.token0, pool.token1).max_amount_in

    def crossed(amount: int) -> int:
        after = pool.swap_exact_in(pool.token0, pool.token1, amount)[1]
        return sum(after.tick < index <= pool.tick for index, _ in pool.ticks)

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if crossed(middle) >= ticks else (middle, high)
    return high


def samples() -> Iterator[Sample]:
    """Yield one sample of every kind and variant whose arithmetic differs."""
    yield from _pairs()
    yield from _concentrated()
    yield from _curve()
    yield from _balancer()
    yield from _others()
    yield from _lanes()


def _sample(name: str, market: Market, amount: int) -> Sample:
    token_in, token_out = market.edges()[0]
    return Sample(name=name, market=market, token_in=token_in, token_out=token_out, amount=amount)


def _pairs() -> Iterator[Sample]:
    reserves = {"reserve0": 20_000 * ETHER, "reserve1": 40_000_000 * 10**6}
    yield _sample("Uniswap v2", ConstantProductPool(**PAIR, **reserves, protocol="v2", fee_pips=3000), 20 * ETHER)
    solidly = {"protocol": "aerodrome", "fork": Fork.VELODROME_V2, "fee0_pips": 500, "fee1_pips": 500}
    yield _sample("Solidly, volatile", SolidlyPool(**PAIR, **reserves, **solidly, stable=False), 20 * ETHER)
    stable = PAIR | {"token0": DOLLAR_18, "reserve0": 9_000_000 * ETHER, "reserve1": 11_000_000 * 10**6}
    yield _sample("Solidly, stable", SolidlyPool(**stable, **solidly, stable=True), 20_000 * ETHER)
    bancor = BancorPool(**PAIR, **reserves, protocol="bancor_v2", fee_pips=2000)
    yield _sample("Bancor v2.1", bancor, 20 * ETHER)


def _concentrated() -> Iterator[Sample]:
    pool = laddered_pool()
    yield _sample("Uniswap v3, no tick crossed", pool, amount_across(pool, 1) // 2)
    yield _sample("Uniswap v3, 50 ticks crossed", pool, amount_across(pool, 50))
    four = laddered_pool(largest_amount=2**127 - 1, protocol_fee_pips=100)
    yield _sample("Uniswap v4 with a protocol fee, 5 ticks", four, amount_across(four, 5))
    centre = -7_601_000
    nets = [(centre - 1_000 * step, 10**16) for step in range(20, 0, -1)]
    nets += [(centre + 1_000 * step, -(10**16)) for step in range(1, 21)]
    ratio = round_ratio(sqrt_ratio_at_tick(centre), up=False)
    ekubo = EkuboPool(
        id="1:0xekubo", protocol="ekubo_v2", token0=ETH_LIKE, token1=DOLLAR, fee_x64=9223372036854775,
        tick_spacing=1_000, sqrt_ratio=ratio, tick=centre, liquidity=20 * 10**16, ticks=tuple(nets),
    )  # fmt: skip
    yield _sample("Ekubo", ekubo, ekubo.limits(ETH_LIKE, DOLLAR).max_amount_in // 10)
    fluid = FluidPool(
        id="1:0xfluid", protocol="fluid_v1", token0=DOLLAR, token1=DOLLAR_B, fee_pips=50, center_price=10**27,
        collateral=(9 * 10**18, 11 * 10**18, 5 * 10**21, 5 * 10**21 + 10**17),
        debt=(8 * 10**18, 12 * 10**18, 4 * 10**21, 4 * 10**21 + 10**17),
        withdrawable=(10**13, 10**13), borrowable=(10**13, 10**13),
    )  # fmt: skip
    yield _sample("Fluid DEX", fluid, 20_000 * 10**6)


def _curve() -> Iterator[Sample]:
    balances = (60_000_000 * ETHER, 80_000_000 * 10**6, 100_000_000 * 10**6)
    plain = {
        **DOLLARS, "protocol": "curve", "balances": balances, "rates": (10**18, 10**30, 10**30),
        "fee_e10": 1_500_000, "admin_fee_e10": 5 * 10**9,
    }  # fmt: skip
    yield _sample("Curve StableSwap, 3 coins", StableSwapPool(**plain, amp=4_000, amp_precision=1), 100_000 * ETHER)
    modern = {"amp": 20_000, "multiplier_e10": 5 * 10**10, "oracle": True}
    yield _sample("Curve StableSwap NG, 3 coins", StableSwapPool(**plain, **modern), 100_000 * ETHER)
    for name, method in (("NG", Method.CLOSED_FORM), ("older", Method.NEWTON)):
        yield _sample(f"Curve twocrypto, {name}", _crypto(method, 2), 20_000 * 10**6)
        yield _sample(f"Curve tricrypto, {name}", _crypto(method, 3), 20_000 * 10**6)


def _crypto(method: Method, count: int) -> CryptoSwapPool:
    """Return a pool of dollars, ether and, if of three, bitcoin, a little out of balance."""
    prices = (2_000 * WAD, 60_000 * WAD)[: count - 1]
    balances = (9_000_000 * 10**6, 5_000 * ETHER, 160 * 10**8)[:count]
    rules = CryptoRules(method, 1707629 * count**count // 27, 11809167828997, 3_000_000, 30_000_000, 5 * 10**14)
    return CryptoSwapPool(
        id="1:0xcrypto", protocol="curve", tokens=(DOLLAR, ETH_LIKE, BITCOIN)[:count], balances=balances,
        price_scale=prices, d=find_invariant(scaled(balances, [10**12, 1, 10**10][:count], prices), rules),
        ann=rules.ann, gamma=rules.gamma, mid_fee=rules.mid_fee, out_fee=rules.out_fee, fee_gamma=rules.fee_gamma,
        method=method,
    )  # fmt: skip


def _balancer() -> Iterator[Sample]:
    held = {"id": "1:0xpool", "tokens": (ETH_LIKE, DOLLAR_18), "balances": (8_000 * ETHER, 4_000_000 * ETHER)}
    weights = {"weights": (8 * 10**17, 2 * 10**17), "fee_e18": 3 * 10**15}
    weighted = WeightedPool(**held, **weights, protocol="balancer_v2", multiplies_powers=True)
    yield _sample("Balancer v2 weighted, 80/20", weighted, 8 * ETHER)
    first = BalancerV1Pool(**held, weights=(40 * ETHER, 10 * ETHER), fee_e18=3 * 10**15, protocol="balancer_v1")
    yield _sample("Balancer v1, 80/20", first, 8 * ETHER)
    stable = BalancerStablePool(
        **DOLLARS, protocol="balancer_v2", balances=(6_000_000 * ETHER, 8_000_000 * 10**6, 10_000_000 * 10**6),
        scales=(10**18, 10**30, 10**30), amp=200_000, fee_e18=10**14, invariant=Invariant.DOWN,
    )  # fmt: skip
    yield _sample("Balancer v2 stable, 3 coins", stable, 10_000 * ETHER)
    linear = BalancerLinearPool(
        id="1:0xlinear", protocol="balancer_v2", tokens=(DOLLAR, DOLLAR_B, OWN),
        balances=(9_000_000 * 10**6, 20_000_000 * 10**6, 30_000_000 * ETHER), rate_e18=1_050_000 * 10**12,
        lower_target=2_900_000 * ETHER, upper_target=10_000_000 * ETHER, fee_e18=2 * 10**14,
    )  # fmt: skip
    yield _sample("Balancer v2 linear", linear, 10_000 * 10**6)


def _others() -> Iterator[Sample]:
    vault = Vault(
        id="1:0xvault", protocol="erc4626", asset=DOLLAR_18, share=OWN, asset_price=950_000 * 10**12,
        share_price=1_052_631 * 10**12, max_deposit=10**30, max_redeem=10**30,
    )  # fmt: skip
    yield _sample("ERC-4626 vault", vault, 10_000 * ETHER)
    levels = tuple(Level(10 * ETHER, 10**4, 20_000_000 - 3_000 * step) for step in range(10))
    ladder = LadderMarket(id="1:ladder", protocol="orders", token_in=ETH_LIKE, token_out=DOLLAR, levels=levels)
    yield _sample("ladder, 10 levels, 5 filled", ladder, 45 * ETHER)
    wrap = NativeWrap.of(CHAINS[1])
    yield _sample("native wrap", wrap, ETHER)


def _lanes() -> Iterator[Sample]:
    across = across_lane(
        DOLLAR, FAR_DOLLAR, capital_fee_e18=10**14, lp_fee_e18=2 * 10**13, relayer_gas_fee=50_000,
        min_deposit=10**6, max_deposit=10**13, fill_time_s=4,
    )  # fmt: skip
    yield _sample("bridge lane (Across)", across, 10_000 * 10**6)
    terms = FeeTerms(10**11, 10**12, 60, 600, 3_000, 100)
    stargate = StargateLane(
        id="stargate", token_in=DOLLAR, token_out=FAR_DOLLAR, terms=terms, deficit=10**10, treasury=10**9,
        fill_time_s=60,
    )  # fmt: skip
    yield _sample("Stargate v2", stargate, 10_000 * 10**6)
