"""Solvers for the benchmark's tests: honest ones, one made worse on purpose, and one that does all that is wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.answer import Answer, Swap
from benchmarks.harness.session import Limits
from benchmarks.harness.suite import Arena, Case, Group
from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import request_of
from benchmarks.peers.this_router import ThisRouter
from routing_engine import Router, RouteRequest, Snapshot

HERE = "tests.support.bench_solvers"
OURS, WORSE = "benchmarks.peers.this_router:ThisRouter", f"{HERE}:make_worse"
LIMITS = Limits(start_s=120, answer_s=20)
STARTED = datetime(2026, 11, 23, tzinfo=UTC)
FORGED = "0x" + "00" * 20 + "@1"


def make_market(tokens: int = 12, pools: int = 30) -> Snapshot:
    """Return a small generated market."""
    return constant_product_market(tokens=tokens, pools=pools)


def make_arena(snapshot: Snapshot, name: str = "small", **options: Any) -> Arena:
    """Return an arena of a few requests that pay for gas."""
    asked = queries(Router(snapshot), 2, (0.001, 0.05))
    cases = tuple(Case(request=request_of(query, gas_prices={1: 10**9})) for query in asked)
    return Arena(
        name=name, source="generated", snapshot=snapshot, groups=(Group(name=f"{name} trades", cases=cases),), **options
    )


def make_worse() -> ThisRouter:
    """Return the router made worse on purpose: one path of two pools."""
    return ThisRouter(options={"max_splits": 1, "max_hops": 2})


class Faulty:
    """Does something else wrong for each amount; the names are those of the faults that the judge should find."""

    name, version = "faulty", "0"
    ACTS = (
        "answered", "none", "error", "bad_answer", "not_json", "too_large", "unknown_market", "wrong_token",
        "overspent", "unspent", "crashed", "timeout",
    )  # fmt: skip

    def load(self, snapshot: Snapshot) -> None:
        """Remember the market, and talk where answers go."""
        self._router = ThisRouter(options={"max_splits": 1})
        self._router.load(snapshot)
        print('{"answer": {"swaps": []}}')

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Any:
        """Act as the amount's last digits say."""
        act = self.ACTS[request.amount % 100]
        good = self._router.solve(request, gas_values)
        assert good is not None
        swap = good.swaps[0]
        match act:
            case "answered":
                return good.document() | {"claimed": "1"}
            case "none":
                return None
            case "error":
                raise KeyError("lost")
            case "bad_answer":
                return {"swaps": [{"market": 7}]}
            case "not_json":
                return {"swaps": [object()]}
            case "too_large":
                return {"swaps": [], "note": "x" * 2_000_000}
            case "unknown_market":
                return Answer(swaps=(Swap("elsewhere", swap.token_in, swap.token_out),))
            case "wrong_token":
                return Answer(swaps=(Swap(swap.market, swap.token_in, FORGED),))
            case "overspent":
                return Answer(swaps=(Swap(swap.market, swap.token_in, swap.token_out, request.amount + 1),))
            case "unspent":
                path = tuple(replace(each, amount=None) for each in good.swaps)
                return Answer(paths=((request.amount - 1, path),))
            case "crashed":
                os._exit(3)
            case "timeout":
                time.sleep(60)
        raise AssertionError(act)


def refuse() -> ThisRouter:
    """Return a solver that does not take the market."""
    from benchmarks.harness.solver import Unsupported

    raise Unsupported("not this one")


KILL = "BENCH_KILL"
"""Names a file: while it is there, `Killer` ends the run with it."""


class Killer(ThisRouter):
    """Counts its markets by lines of a file, and kills its parent when it gets the second."""

    def load(self, snapshot: Snapshot) -> None:
        """Take the market, or kill."""
        flag = Path(os.environ[KILL])
        if flag.exists():
            with flag.open("a") as file:
                file.write("loaded\n")
            if len(flag.read_text().splitlines()) == 2:
                flag.unlink()
                os.kill(os.getppid(), signal.SIGKILL)
        super().load(snapshot)
