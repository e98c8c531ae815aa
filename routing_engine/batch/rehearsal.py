"""Searches on a tiny market, so that no request waits for kernels to be compiled or loaded."""

from __future__ import annotations

from routing_engine.batch.searcher import BuildSearcher
from routing_engine.errors import Unroutable
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.snapshot.snapshot import Snapshot

FIRST, SECOND = (
    Token(chain_id=1, address=address, symbol=symbol, decimals=18)
    for address, symbol in (("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "WETH"), (f"0x{1:040x}", "T"))
)  # fmt: skip


def build_tiny_market() -> Snapshot:
    """Return two pools of one pair, of which one token gives gas a price."""
    pools = [
        ConstantProductPool(
            id=str(number), protocol="warm", token0=FIRST, token1=SECOND, reserve0=10**9, reserve1=10**9, fee_pips=3000
        )
        for number in range(2)
    ]  # fmt: skip
    return Snapshot(pools, gas_prices={1: 1})


def rehearse(build: BuildSearcher) -> None:
    """Search both ways, for amounts that gas takes, that fit, and that are too large.

    What is compiled is what the engine calls, with the types that it uses.
    """
    searcher = build(build_tiny_market())
    for side in ("exact_in", "exact_out"):
        for amount in (10**5, 10**7, 10**30):
            request = RouteRequest(token_in=FIRST, token_out=SECOND, amount=amount, side=side)
            try:
                searcher.find_routes(request).best()
            except Unroutable:
                continue
