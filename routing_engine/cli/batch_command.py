"""``routing-engine batch``: a file of requests in, a line of JSON for each out."""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from routing_engine.cli.search_options import SearchOptions, as_option, ready_router, search_options
from routing_engine.cli.terminal import JSON, load_market, note, reported
from routing_engine.errors import InvalidRequest

if TYPE_CHECKING:
    from routing_engine.batch.executor import Progress
    from routing_engine.batch.files import Line
    from routing_engine.snapshot.snapshot import Snapshot

JSONL = "jsonl"
FILE = click.Path(path_type=Path)

EXAMPLES = """\b
Examples:
  routing-engine batch --requests requests.jsonl > answers.jsonl
  routing-engine batch --market market.json.gz --requests requests.csv --gas-price-gwei 10 --threads 8

A line of requests.jsonl:
  {"token_in": "WETH@1", "token_out": "USDC@8453", "amount": "1500000000000000000", "side": "exact_in"}
"""


@click.command(epilog=EXAMPLES)
@click.option("--market", type=FILE, help="Market file.  [default: the sandbox market]")
@click.option("--requests", required=True, type=FILE, help="Requests: .jsonl, .json or .csv, perhaps with .gz.")
@search_options
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Searches at once.  [default: processors]")
@click.option("--format", type=click.Choice([JSONL]), default=JSONL, show_default=True, expose_value=False)
def batch(market: Path | None, requests: Path, threads: int | None, **values: Any) -> None:
    """Find the best route for each request of a file; one answer a line, in the file's order.

    A request has token_in, token_out, an amount in smallest units, and a side: exact_in or exact_out (or sell or buy),
    exact_in without. What else stands there is yours, but for names of what holds for all requests, such as order or
    max_hops: who writes these in a row may mean them, so such a row is refused. A request that is wrong gets a line
    that says what to change; the others are answered. Exit codes: 0 all requests have a line, 2 wrong usage, or a file
    that cannot be read.
    """
    options = SearchOptions.taken_from(values)
    with reported(JSON):
        snapshot = load_market(market)
        try:
            lines = _run(snapshot, requests, options, threads)
            _tell(_written(lines))
        except InvalidRequest as error:
            raise as_option(error) from error


def _run(snapshot: Snapshot, path: Path, options: SearchOptions, threads: int | None) -> Iterator[Line]:
    from routing_engine.batch.files import RowReader, answer_rows
    from routing_engine.formats.requests import load_requests

    rows = load_requests(path)
    reader = RowReader(snapshot, options.fields(snapshot))
    router = ready_router(snapshot)
    with _progress() as progress:
        yield from answer_rows(router, rows, reader, workers=threads, progress=progress)


def _written(lines: Iterable[Line]) -> Iterator[Line]:
    """Write each line as soon as it is there."""
    for line in lines:
        click.echo(json.dumps(line.document()))
        yield line


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show a bar while the body runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Routing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _tell(lines: Iterable[Line]) -> None:
    """Sum up on stderr: how requests ended, how long searches took, and whether gas could be counted."""
    statuses, times, free = Counter[str](), list[float](), 0
    for line in lines:
        statuses[line.status] += 1
        free += line.gas_is_free
        if not isinstance(line.answer, InvalidRequest):
            times.append(line.answer.elapsed_ms)
    counts = ", ".join(f"{count:,} {status}" for status, count in statuses.most_common())
    note(f"{statuses.total():,} requests: {counts or 'none'}")
    if len(times) > 1:
        percentiles = statistics.quantiles(times, n=20, method="inclusive")
        note(f"search: median {statistics.median(times):.2f} ms, 95 % within {percentiles[-1]:.2f} ms")
    if free:
        note(f"gas counts as free in {free:,} routes: set --gas-price-gwei, or this market cannot value their tokens")
