"""``routing-engine analyse``: loops that pay, depth, contributions, shadow prices, decay and gas, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from routing_engine.cli.gas_options import parse_gas_prices
from routing_engine.cli.search_options import (
    SearchOptions,
    as_option,
    find_token,
    parse_amount,
    ready_router,
    search_options,
)
from routing_engine.cli.terminal import CSV, JSON, TABLE, load_market, reported, show_progress, write_json, write_rich
from routing_engine.errors import InvalidRequest

if TYPE_CHECKING:
    from routing_engine.frames.table import Table
    from routing_engine.request import RouteRequest
    from routing_engine.snapshot.snapshot import Snapshot

FILE = click.Path(path_type=Path)
MARKET = click.option("--market", type=FILE, help="Market file.  [default: the sandbox market]")
FORMAT = click.option(
    "--format", "output_format", type=click.Choice([TABLE, JSON, CSV]), default=TABLE, show_default=True
)
AMOUNT = click.option("--amount", required=True, metavar="A", help="Whole tokens to pay.")
PRICE = click.FloatRange(0, 1e6)
LEVEL = click.FloatRange(0, 10_000, min_open=True, max_open=True)

EXAMPLES = """\b
Examples:
  routing-engine analyse cycles --market market.json.gz --gas-price-gwei 10
  routing-engine analyse depth --from WETH@1 --to USDC@1 --level 10 --level 100
  routing-engine analyse contributions --from WETH@1 --to USDC@1 --amount 1000 --by market
  routing-engine analyse gas --from WETH@1 --to USDC@1 --amount 100 --price 1 --price 50
  routing-engine analyse execution --history eth.recording --block 24721180 --from WETH --to USDC --amount 5 \\
    --got 10512.25 --gas 180000
  routing-engine analyse duals --from WETH@1 --to USDC@1 --amount 1000
  routing-engine analyse decay --market market.json.gz --deltas deltas.json.gz --from WETH --to USDC --amount 500
"""


@click.group(epilog=EXAMPLES)
def analyse() -> None:
    """Ask a market more than one question.

    Tables show the first 20 rows; json and csv have all, with exact amounts. Exit codes: 0 done, 1 no route,
    2 wrong usage or input.
    """


def take_pair(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a pair and of its search."""
    given = (
        click.option("--from", "token_in", required=True, metavar="T", help="Token to pay with: USDC@1 or WETH."),
        click.option("--to", "token_out", required=True, metavar="T", help="Token to receive."),
        MARKET, search_options, FORMAT,
    )  # fmt: skip
    for option in reversed(given):
        command = option(command)
    return command


@analyse.command()
@MARKET
@click.option("--max-hops", type=int, default=3, show_default=True, metavar="N", help="Markets in a loop, 2 to 6.")
@click.option("--max-loops", type=int, default=1_000, show_default=True, metavar="N", help="Judge the best so many.")
@click.option("--bridges", is_flag=True, help="Let loops cross chains.")
@click.option("--gas-price-gwei", multiple=True, metavar="[CHAIN=]G", help="Gas price of all chains, or of one.")
@FORMAT
def cycles(
    market: Path | None,
    max_hops: int,
    max_loops: int,
    bridges: bool,
    gas_price_gwei: tuple[str, ...],
    output_format: str,
) -> None:
    """Find loops of markets that give back more than they take, and what gas leaves of it."""
    with reported_as_option(output_format):
        snapshot = load_market(market)
        prices = parse_gas_prices(gas_price_gwei, (token.chain_id for token in snapshot.tokens))
        router = ready_router(snapshot.apply(gas_prices=prices))
        from routing_engine.analysis.cycles import find_cycles

        with show_progress("Judging loops") as progress:
            found = find_cycles(
                router, max_hops=max_hops, max_loops=max_loops, is_bridge_allowed=bridges, progress=progress
            )
        write_table(found, output_format)


@analyse.command()
@take_pair
@click.option("--level", "levels", type=LEVEL, multiple=True, metavar="BPS", help="Loss to look for; may be repeated.")
def depth(
    token_in: str, token_out: str, market: Path | None, output_format: str, levels: tuple[float, ...], **values: Any
) -> None:
    """Find how much can be traded before the price is worse by 1, 5, 10, 50, 100 and 500 bps, or by --level."""
    options = SearchOptions.taken_from(values)
    with reported_as_option(output_format):
        snapshot = load_market(market)
        ends = find_token(snapshot, token_in, "--from"), find_token(snapshot, token_out, "--to")
        router = ready_router(snapshot)
        from routing_engine.analysis.depth import LEVELS_BPS, measure_depth

        write_table(
            measure_depth(router, *ends, levels_bps=levels or LEVELS_BPS, **options.fields(snapshot)), output_format
        )


@analyse.command()
@take_pair
@AMOUNT
@click.option("--by", "part", type=click.Choice(["protocol", "market", "chain"]), default="protocol", show_default=True)
def contributions(market: Path | None, output_format: str, part: Any, **values: Any) -> None:
    """Leave out each protocol, market or chain that the best route uses, and ask again."""
    with reported_as_option(output_format):
        snapshot = load_market(market)
        request = read_request(snapshot, values)
        router = ready_router(snapshot)
        from routing_engine.analysis.contributions import measure_contributions

        with show_progress("Asking again") as progress:
            found = measure_contributions(router, request, part, progress=progress)
        write_table(found, output_format)


@analyse.command()
@take_pair
@AMOUNT
def duals(market: Path | None, output_format: str, **values: Any) -> None:
    """Find a route; say what one more unit of each token would bring, and what 1 % more depth of each market would.

    Small changes only: these are derivatives, in floats. The output token is the unit.
    """
    with reported_as_option(output_format):
        snapshot = load_market(market)
        request = read_request(snapshot, values)
        write_table(ready_router(snapshot).find_routes(request).duals, output_format)


@analyse.command()
@take_pair
@AMOUNT
@click.option("--deltas", required=True, type=FILE, help="Block deltas of the market file, in the neutral format.")
def decay(market: Path | None, output_format: str, deltas: Path, **values: Any) -> None:
    """Find a route, execute it in each later block, and say which slippage tolerance would have sufficed."""
    with reported_as_option(output_format):
        snapshot = load_market(market)
        request = read_request(snapshot, values)
        best = ready_router(snapshot).find_routes(request).best()
        from routing_engine.analysis.decay import measure_decay

        write_table(measure_decay(best, _list_later(snapshot, deltas)), output_format)


@analyse.command()
@take_pair
@AMOUNT
@click.option("--price", "prices", type=PRICE, multiple=True, metavar="GWEI", help="Gas price; may be repeated.")
def gas(market: Path | None, output_format: str, prices: tuple[float, ...], **values: Any) -> None:
    """Ask the same at rising gas prices, and say what the cheapest gas's route would lose at each."""
    with reported_as_option(output_format):
        snapshot = load_market(market)
        request = read_request(snapshot, values)
        router = ready_router(snapshot)
        from routing_engine.analysis.gas_sensitivity import PRICES_GWEI, measure_gas_sensitivity

        write_table(measure_gas_sensitivity(router, request, prices or PRICES_GWEI), output_format)


@contextmanager
def reported_as_option(output_format: str) -> Iterator[None]:
    """Turn errors of the engine into failures that name the option."""
    with reported(output_format):
        try:
            yield
        except InvalidRequest as error:
            raise as_option(error) from error


def read_request(snapshot: Snapshot, values: dict[str, Any]) -> RouteRequest:
    """Return the request that the options of a pair, of its search and of its amount stand for."""
    from routing_engine.request import RouteRequest

    options = SearchOptions.taken_from(values)
    token_in = find_token(snapshot, values["token_in"], "--from")
    return RouteRequest(
        token_in=token_in,
        token_out=find_token(snapshot, values["token_out"], "--to"),
        amount=parse_amount(values["amount"], token_in),
        **options.fields(snapshot),
    )


def _list_later(snapshot: Snapshot, deltas: Path) -> Iterator[Snapshot]:
    from routing_engine import formats

    for step in formats.load_deltas(deltas):
        snapshot = snapshot.apply(step.markets, removed=step.withdrawn, blocks=step.blocks)
        yield snapshot


def write_table(table: Table, output_format: str) -> None:
    """Write a table to stdout."""
    from routing_engine.frames.to_records import list_records, write_csv

    if output_format == JSON:
        write_json(list_records(table.columns()))
    elif output_format == CSV:
        click.echo(write_csv(table.columns()), nl=False)
    else:
        write_rich(table)
