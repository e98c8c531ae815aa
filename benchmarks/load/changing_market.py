"""A generated market that changes all the time, on a board that a service reads: ``python -m … URL POOLS``.

Every second one pool in a hundred gets other reserves, as blocks bring them.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.instances import Query, constant_product_market, queries
from benchmarks.load.client import Ask
from benchmarks.load.processes import Server, find_port, run_beside, run_once, serving
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from tests.support.redis_server import redis_server

EVERY_S = 1.0
SOURCE, LIFE_S = "generated", 86_400
SHARE = 100
PAIRS = 50
SIZES = (0.001, 0.01)
UNLIMITED = {f"RATE_LIMIT_{name}": "1000000" for name in ("KEY", "ROUTING", "KEYLESS", "PAGE")}


@contextmanager
def serving_changing_market(checkout: Sequence[str], pools: int, folder: Path) -> Iterator[Server]:
    """Run the service on a market of so many pools that changes every second, until the block ends."""
    with redis_server() as (url, _), run_beside([sys.executable, "-m", __name__, url, str(pools)]):
        settings = UNLIMITED | {
            "ADAPTERS": "sandbox",  # what the board has comes from here
            "REDIS_URL": f"redis+{url}",
            "DATA_DIR": str(folder / "changing"),
        }
        port = find_port()
        run_once([*checkout, "db", "upgrade"], settings)
        with serving([*checkout, "serve", "--port", str(port)], port, settings, folder / "changing.log") as server:
            server.wait_for(_ask(_list_requests(pools)[0]))
            yield server


def list_quotes(pools: int) -> Ask:
    """Return the question for quotes of a hundred trades, one after the other."""
    first, *others = map(_ask, _list_requests(pools))
    return Ask(path=first, others=tuple(others))


def measure_router(pools: int, seconds: float, changes: int) -> float:
    """Return how many of the same routes one process finds in a second of its processor time, on a market as changed.

    Parameters
    ----------
    changes : int
        How often the market has changed before; it goes on to change every second.
    """
    rng, snapshot = random.Random(3), constant_product_market(pools=pools)
    for _ in range(changes):
        snapshot = _change(snapshot, rng)
    router, requests = Router(snapshot), _list_requests(pools)
    for request in requests:
        router.find_routes(request)
    found, spent, due = 0, 0.0, EVERY_S
    while spent < seconds:
        began = time.process_time()
        router.find_routes(requests[found % len(requests)])
        found, spent = found + 1, spent + time.process_time() - began
        if spent > due:
            snapshot, due = _change(snapshot, rng), due + EVERY_S
            router = router.follow(snapshot)
    return found / spent


@cache
def _list_requests(pools: int) -> list[RouteRequest]:
    router = Router(constant_product_market(pools=pools))
    asked = [_make_request(each) for each in queries(router, PAIRS, SIZES)]
    return [each for each in asked if router.find_routes(each).routes]


def _make_request(query: Query) -> RouteRequest:
    return RouteRequest(token_in=query.token_in, token_out=query.token_out, amount=query.amount)


def _ask(request: RouteRequest) -> str:
    sold, bought = request.token_in, request.token_out
    return (
        f"/api/v1/quote?fromChain={sold.chain_id}&toChain={bought.chain_id}"
        f"&fromToken={sold.address}&toToken={bought.address}&fromAmount={request.amount}"
    )


def _change(snapshot: Snapshot, rng: random.Random) -> Snapshot:
    chosen = rng.sample(list(snapshot.markets.values()), len(snapshot.markets) // SHARE)
    return snapshot.apply([_trade(pool, rng) for pool in chosen if isinstance(pool, ConstantProductPool)])


def _trade(pool: ConstantProductPool, rng: random.Random) -> ConstantProductPool:
    """Move a pool's price a little, along its curve."""
    step = 1 + rng.uniform(-0.0005, 0.0005)
    return replace(pool, reserve0=int(pool.reserve0 * step), reserve1=int(pool.reserve1 / step))


def main() -> None:
    """Publish the market, and then what changes, until somebody ends this."""
    from redis import Redis

    from adapters.feed.board import RedisBoard
    from adapters.feed.state import SourceReport, State

    board = RedisBoard(Redis.from_url(sys.argv[1]), "checkout:market")
    rng, snapshot = random.Random(3), constant_product_market(pools=int(sys.argv[2]))
    owners = dict.fromkeys(snapshot.markets, SOURCE)
    sources = (SourceReport(name=SOURCE, expires_at=time.time() + LIFE_S),)
    while True:
        board.publish(State(snapshot=snapshot, owners=owners, sources=sources))
        time.sleep(EVERY_S)
        snapshot = _change(snapshot, rng)


if __name__ == "__main__":
    main()
