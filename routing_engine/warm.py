"""Compile all kernels into their cache: ``python -m routing_engine.warm``, at installation or at a process's start."""

from __future__ import annotations

import sys
import time


def warm_up() -> None:
    """Run every kernel once, so that no request ever waits for a compiler; from the cache it takes a second or less.

    A tiny market is routed over both ways: what is compiled is what the engine calls, with the types it uses.
    """
    from routing_engine.errors import Unroutable
    from routing_engine.markets import ConstantProductPool
    from routing_engine.model import Token
    from routing_engine.request import RouteRequest
    from routing_engine.router import Router
    from routing_engine.snapshot import Snapshot

    tokens = [Token(chain_id=1, address=f"0x{number:040x}", symbol=f"T{number}", decimals=18) for number in (1, 2, 3)]
    pools = [
        ConstantProductPool(
            id=str(number), protocol="warm", token0=tokens[0], token1=tokens[1], reserve0=10**9, reserve1=10**9,
            fee_pips=3000,
        )
        for number in range(2)
    ]  # fmt: skip
    router = Router(Snapshot(pools))
    for side in ("exact_in", "exact_out"):
        router.find_routes(RouteRequest(token_in=tokens[0], token_out=tokens[1], amount=10**7, side=side)).best()
        hopeless = RouteRequest(token_in=tokens[0], token_out=tokens[1], amount=10**30, side=side)
        try:
            router.find_routes(hopeless).best()
        except Unroutable:
            continue


def main() -> None:
    """Warm up and say how long it took."""
    started = time.perf_counter()
    warm_up()
    print(f"routing kernels are ready ({time.perf_counter() - started:.1f} s)", file=sys.stderr)


if __name__ == "__main__":
    main()
