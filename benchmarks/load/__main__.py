"""``python -m benchmarks.load``: the service, a bare application and its twin in one run, turn by turn.

The ratios say how much of what the stack can do is left; rates alone depend on the machine. ``--checkout COMMAND``
measures another version of the service, ``--postgresql`` the other database, ``--streams 400`` with so many pages open
beside it, and ``--changing 20000`` quotes on a generated market that changes every second.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.load.changing_market import EVERY_S, list_quotes, serving_changing_market
from benchmarks.load.client import Ask, Measured, measure, require_wrk
from benchmarks.load.open_streams import open_streams
from benchmarks.load.postgres import postgres_urls
from benchmarks.load.processes import Server, find_port, serving
from benchmarks.load.router_loops import run_router_loops

LINK: dict[str, Any] = {
    "line_items": [{"title": "Shoes", "quantity": 1}],
    "order_price": {"currency": "USDC", "amount": 25_000_000, "decimals": 6},
    "env_mode": "test",
    "success_callback_url": "http://localhost:3000/paid",
    "cancel_callback_url": "http://localhost:3000/cart",
    "failure_callback_url": "http://localhost:3000/failed",
}
WARM_UP_S = 2
ORDERS = 300
UNLIMITED = {f"RATE_LIMIT_{name}": "1000000" for name in ("KEY", "ROUTING", "KEYLESS", "PAGE")}
USDC, WETH = "0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913", "0x4200000000000000000000000000000000000006"
QUESTION = f"fromChain=8453&toChain=8453&fromToken={USDC}&toToken={WETH}&fromAmount="
QUOTE = f"/api/v1/quote?{QUESTION}25000000"
AMOUNTS = range(20_000_000, 30_000_000, 997)
"""USDC around the price of an order; no two quotes in a row ask for the same."""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("only", nargs="*", help="rows, such as orders or page; all by default")
    parser.add_argument("--seconds", type=int, default=6, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument("--checkout", default=f"{sys.executable} -m api.cli", help="how the service is started")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--streams", type=int, default=0, help="pages whose news stay open meanwhile")
    parser.add_argument("--changing", type=int, default=0, help="pools of a market that changes, for quotes alone")
    options = parser.parse_args()
    require_wrk()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        (_measure_changing if options.changing else _measure_all)(options, stack, Path(name))


def _measure_all(options: argparse.Namespace, stack: ExitStack, folder: Path) -> None:
    """Measure the service, the bare application and its twin in turns."""
    database = stack.enter_context(postgres_urls()) if options.postgresql else None
    ours = stack.enter_context(_serve_ours(shlex.split(options.checkout), folder, database))
    bares = [stack.enter_context(_serve_bare(app, folder, database)) for app in ("asgi", "twin")]
    key = _wait_for_welcome(ours)["key"]
    ours.wait_until_idle()
    orders = Orders(ours, key)
    asks = {row: pair for row, pair in _choose_asks(orders, bares[0]).items() if row in (options.only or [row])}
    if options.streams:
        streams = stack.enter_context(open_streams(ours, orders.ids, options.streams))
    servers, found = [ours, *bares], {}
    for row, (mine, theirs) in asks.items():
        each_ask = [mine if server is ours else theirs for server in servers]
        for server, ask in zip(servers, each_ask, strict=True):
            measure(server, ask, WARM_UP_S, folder)
        rounds = [
            [measure(server, ask, options.seconds, folder) for server, ask in zip(servers, each_ask, strict=True)]
            for _ in range(options.rounds)
        ]
        found[row] = [_take_median(each) for each in zip(*rounds, strict=True)]
    Console(width=150).print(_draw(found))
    if options.streams:
        print(f"{streams.count()} of {options.streams} streams are still open")
    print("memory: " + ", ".join(f"{server.read_megabytes():.0f} MB" for server in servers))
    print("of the service's processes: " + ", ".join(f"{each:.0f} MB" for each in ours.list_megabytes()))


def _measure_changing(options: argparse.Namespace, stack: ExitStack, folder: Path) -> None:
    """Measure quotes on a generated market that changes, and the router by itself, in turns."""
    pools, began = options.changing, time.monotonic()
    ours, key = stack.enter_context(serving_changing_market(shlex.split(options.checkout), pools, folder))
    streams = stack.enter_context(open_streams(ours, Orders(ours, key).ids, options.streams))
    measure(ours, list_quotes(pools), WARM_UP_S, folder)
    loops = stack.enter_context(run_router_loops(pools, changes=round((time.monotonic() - began) / EVERY_S)))
    turns = [
        (measure(ours, list_quotes(pools), options.seconds, folder), loops.measure(options.seconds))
        for _ in range(options.rounds)
    ]
    quotes, alone = (_take_median(each) for each in zip(*((ours, loop) for ours, (loop, _) in turns), strict=True))
    line_ms = statistics.median(line for _, (_, line) in turns)
    print(
        f"quotes on {pools} pools, of which one in a hundred changes every second, {streams.count()} streams open: "
        f"{quotes.rate:.1f}/s, p99 {quotes.p99_ms:.0f} ms, {quotes.cpu_ms:.1f} ms of processor time, "
        f"{quotes.refused} refused"
    )
    print(
        f"the router alone: {alone.rate:.1f}/s, p99 {alone.p99_ms:.0f} ms, {line_ms:.0f} ms with as many in line, "
        f"{alone.cpu_ms:.1f} ms of processor time"
    )
    print(
        f"of the router's: {quotes.rate / alone.rate:.2f}, by processor time {alone.cpu_ms / quotes.cpu_ms:.2f}; "
        f"p99 {quotes.p99_ms / alone.p99_ms:.1f} times, {quotes.p99_ms / line_ms:.1f} times that in line"
    )
    family = [ours.process, *ours.process.children(recursive=True)]
    each_mb = ", ".join(f"{each.memory_info().rss / 1e6:.0f} MB" for each in family)
    print(f"memory: {ours.read_megabytes():.0f} MB; what each process holds, shared pages counted in each: {each_mb}")


@contextmanager
def _serve_ours(command: Sequence[str], folder: Path, database: dict[str, str] | None) -> Iterator[Server]:
    port = find_port()
    environment = UNLIMITED | ({"DATABASE_URL": database["ours"]} if database else {})
    words = [*command, "up", "--port", str(port), "--data-dir", str(folder / "data")]
    with serving(words, port, environment, folder / "ours.log", part="serve") as server:
        yield server


@contextmanager
def _serve_bare(app: str, folder: Path, database: dict[str, str] | None) -> Iterator[Server]:
    port = find_port()
    words = [
        sys.executable,
        "-m",
        "uvicorn",
        "--port",
        str(port),
        "--log-level",
        "error",
        f"benchmarks.load.bare:{app}",
    ]
    environment = {"BARE_DATABASE": database["bare"] if database else f"sqlite:///{folder / app}.db"}
    with serving([*words, "--loop", "auto"], port, environment, folder / f"{app}.log") as server:
        yield server


class Orders:
    """Orders made with a key: nobody reads one and the same all the time."""

    def __init__(self, ours: Server, key: str) -> None:
        self.key = key
        made = (_send(f"{ours.url}/api/v1/payment_link", {"X-Api-Key": self.key}) for _ in range(ORDERS))
        self.ids = [str(each["payment_order_id"]) for each in made]

    def ask(self, prefix: str, headers: dict[str, str] | None = None) -> Ask:
        """Return the question for each of them in turn."""
        first, *others = (prefix + each for each in self.ids)
        return Ask(path=first, others=tuple(others), headers=headers or {})


def _choose_asks(orders: Orders, bare: Server) -> dict[str, tuple[Ask, Ask]]:
    made = _send(f"{bare.url}/orders", {})["id"]
    with_key = {"X-Api-Key": orders.key}
    return {
        "orders": (
            Ask(path="/api/v1/payment_link", body=LINK, headers=with_key),
            Ask(path="/orders", body=LINK),
        ),
        "reads": (orders.ask("/api/v1/payment/", with_key), Ask(path=f"/orders/{made}")),
        "page": (orders.ask("/payment/"), Ask(path="/page")),
        "tokens": (Ask(path="/v1/tokens"), Ask(path="/tokens")),
        "healthz": (Ask(path="/healthz"), Ask(path="/healthz")),
        "quotes": (_ask_for_amounts("/api/v1/quote"), Ask(path="/healthz")),
        "searches": (_ask_for_amounts("/api/v1/quote"), _ask_for_amounts("/quote")),
    }


def _ask_for_amounts(path: str) -> Ask:
    first, *others = (f"{path}?{QUESTION}{amount}" for amount in AMOUNTS)
    return Ask(path=first, others=tuple(others))


def _send(url: str, headers: dict[str, str]) -> dict[str, Any]:
    sent = urllib.request.Request(url, json.dumps(LINK).encode(), {"Content-Type": "application/json"} | headers)
    with urllib.request.urlopen(sent) as answer:
        content: dict[str, Any] = json.load(answer)
        return content


def _wait_for_welcome(ours: Server) -> dict[str, str]:
    for _ in range(600):
        text = ours.log.read_text()
        key, order = re.search(r"sk_test_\S+", text), re.search(r"Payment page:.*/(po_\w+)", text)
        if key and order:
            return {"key": key[0], "order": order[1]}
        time.sleep(0.2)
    raise RuntimeError(f"the service did not say its key: {ours.log.read_text()[-1000:]}")


def _take_median(rounds: Sequence[Measured]) -> Measured:
    return Measured(
        rate=statistics.median(each.rate for each in rounds),
        p99_ms=statistics.median(each.p99_ms for each in rounds),
        cpu_ms=statistics.median(each.cpu_ms for each in rounds),
        refused=sum(each.refused for each in rounds),
    )


def _draw(found: dict[str, list[Measured]]) -> Table:
    table = Table(title="answers a second, p99, processor time of an answer")
    for name in ("", "service", "bare", "bare twin", "of bare", "of twin", "cpu of bare", "p99 of bare"):
        table.add_column(name)
    for row, (ours, bare, twin) in found.items():
        figures = [f"{each.rate:.0f}/s {each.p99_ms:.0f} ms {each.cpu_ms:.2f} ms" for each in (ours, bare, twin)]
        refused = f" ({ours.refused} refused)" if ours.refused else ""
        table.add_row(
            row + refused,
            *figures,
            f"{ours.rate / bare.rate:.2f}",
            f"{ours.rate / twin.rate:.2f}",
            f"{bare.cpu_ms / max(ours.cpu_ms, 0.001):.2f}",
            f"{ours.p99_ms / bare.p99_ms:.1f}x",
        )
    return table


if __name__ == "__main__":
    main()
