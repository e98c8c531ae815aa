"""Pools of several tokens, which serve one direction in a route."""

from __future__ import annotations

from routing_engine import NATIVE_ADDRESS, Router, RouteRequest, Snapshot, Token
from routing_engine.markets import NativeWrap, StableSwapPool, WeightedPool

ETH, WETH, T = (
    Token(chain_id=1, address=address, symbol=symbol, decimals=18)
    for address, symbol in ((NATIVE_ADDRESS, "ETH"), (f"0x{1:040x}", "WETH"), (f"0x{2:040x}", "T"))
)
MILLI = 10**15
AMOUNT, THROUGH_T = 185 * MILLI, 4 * MILLI


def test_a_pool_of_three_tokens_serves_the_direction_that_is_worth_most() -> None:
    """It serves WETH to ETH a little better than the wrap does, but T far better than anything else."""
    basket = StableSwapPool(
        id="basket", protocol="curve", tokens=(WETH, ETH, T), balances=(10_756 * MILLI, 16_507 * MILLI, 97_958 * MILLI),
        rates=(3_000 * 10**18, 3_000 * 10**18, 35_213 * MILLI), amp=200_000, fee_e10=0, admin_fee_e10=5 * 10**9,
    )  # fmt: skip
    small = WeightedPool(
        id="small", protocol="balancer_v2", tokens=(ETH, WETH, T), balances=(42 * MILLI, 42 * MILLI, 1_418 * MILLI),
        weights=(333_333_333_333_333_334, 333_333_333_333_333_333, 333_333_333_333_333_333), fee_e18=10**17,
        multiplies_powers=True,
    )  # fmt: skip
    markets = [NativeWrap(id="wrap", native=ETH, wrapped=WETH), basket, small]
    request = RouteRequest(token_in=WETH, token_out=ETH, amount=AMOUNT)
    best = Router(Snapshot(markets, gas_prices={1: 0})).find_routes(request).best()
    bought = basket.quote_exact_in(WETH, T, THROUGH_T).amount_out
    assert best.amount_out >= AMOUNT - THROUGH_T + small.quote_exact_in(T, ETH, bought).amount_out
