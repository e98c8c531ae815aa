"""A generated market that changes all the time, on a board that a service reads: ``python -m … URL POOLS``.

Every second one pool in a hundred gets other reserves, as blocks bring them.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from api.schemas.routing.pairs import DEFAULT_SPLITS
from api.services.routing.query import ANSWER_WORK
from benchmarks.instances import Query, constant_product_market, queries
from benchmarks.load.client import Ask
from benchmarks.load.processes import Server, find_port, run_beside, run_once, serving
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from tests.support.redis_server import redis_server

EVERY_S = 1.0
SOURCE, LIFE_S = "generated", 86_400
SHARE, SEED = 100, 3
PAIRS = 50
SIZES = (0.001, 0.01)
UNLIMITED = {f"RATE_LIMIT_{name}": "1000000" for name in ("KEY", "ROUTING", "KEYLESS", "PAGE")}


@contextmanager
def serving_changing_market(checkout: Sequence[str], pools: int, folder: Path) -> Iterator[tuple[Server, str]]:
    """Run the service on a market of so many pools that changes every second, until the block ends; give a key too."""
    with redis_server() as (url, _), run_beside([sys.executable, "-m", __name__, url, str(pools)]):
        settings = UNLIMITED | {
            "ADAPTERS": "sandbox",  # what the board has comes from here
            "REDIS_URL": f"redis+{url}",
            "DATA_DIR": str(folder / "changing"),
        }
        port = find_port()
        run_once([*checkout, "db", "upgrade"], settings)
        key = json.loads(run_once([*checkout, "vendors", "create", "Load", "--json"], settings))["test_key"]
        with serving([*checkout, "serve", "--port", str(port)], port, settings, folder / "changing.log") as server:
            server.wait_for(_ask(list_requests(pools)[0]))
            yield server, key


def list_quotes(pools: int) -> Ask:
    """Return the question for quotes of a hundred trades, one after the other."""
    first, *others = map(_ask, list_requests(pools))
    return Ask(path=first, others=tuple(others))


@cache
def list_requests(pools: int) -> list[RouteRequest]:
    """Return what a hundred trades ask the router for, with the options of the service's quotes."""
    router = Router(constant_product_market(pools=pools))
    asked = [_make_request(each) for each in queries(router, PAIRS, SIZES)]
    return [each for each in asked if router.find_routes(replace(each, max_splits=1, certify=False)).routes]


def _make_request(query: Query) -> RouteRequest:
    return RouteRequest(
        token_in=query.token_in,
        token_out=query.token_out,
        amount=query.amount,
        max_splits=DEFAULT_SPLITS,
        time_budget_ms=None,
        work_budget=ANSWER_WORK,
    )


def _ask(request: RouteRequest) -> str:
    sold, bought = request.token_in, request.token_out
    return (
        f"/api/v1/quote?fromChain={sold.chain_id}&toChain={bought.chain_id}"
        f"&fromToken={sold.address}&toToken={bought.address}&fromAmount={request.amount}"
    )


def change(snapshot: Snapshot, rng: random.Random) -> Snapshot:
    """Give one pool in a hundred other reserves."""
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
    rng, snapshot = random.Random(SEED), constant_product_market(pools=int(sys.argv[2]))
    owners = dict.fromkeys(snapshot.markets, SOURCE)
    sources = (SourceReport(name=SOURCE, expires_at=time.time() + LIFE_S),)
    while True:
        board.publish(State(snapshot=snapshot, owners=owners, sources=sources))
        time.sleep(EVERY_S)
        snapshot = change(snapshot, rng)


if __name__ == "__main__":
    main()
