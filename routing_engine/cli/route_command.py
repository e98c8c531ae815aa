"""``routing-engine route``: from options to a request, from a result to text."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from routing_engine.amounts import parse_units, write_duration
from routing_engine.cli.search_options import (
    SearchOptions,
    as_option,
    find_token,
    parse_amount,
    ready_router,
    search_options,
)
from routing_engine.cli.terminal import (
    CSV,
    JSON,
    TABLE,
    NothingFound,
    load_market,
    note,
    reported,
    working,
    write_json,
    write_rich,
)
from routing_engine.errors import InvalidRequest, Unroutable

if TYPE_CHECKING:
    from routing_engine.model import Token
    from routing_engine.request import RouteRequest
    from routing_engine.result import RouteResult
    from routing_engine.route import Route
    from routing_engine.snapshot.snapshot import Snapshot

WIDTH = 80
"""Columns of a paragraph."""

LONG_S = 3_600
"""Seconds from which on it is said that a route takes long."""

OPTION_OF = {"amount": "--amount", "token_out": "--to", "alternatives": "--alternatives"}
"""A request's fields by the option they come from, where `search_options` does not know it."""


EXAMPLES = """\b
Examples:
  routing-engine route --from WETH@1 --to USDC@8453 --amount 1.5
  routing-engine route --from WETH@1 --to USDC@1 --amount 1000 --exact-out
  routing-engine route --market market.json.gz --from WETH --to USDC --amount 500 --format json
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of ``route`` as typed."""

    token_in: str
    token_out: str
    amount: str
    market: Path | None
    exact_out: bool
    units: bool
    search: SearchOptions
    alternatives: int
    pareto: bool
    explain: bool
    archive: Path | None
    plot: Path | None
    show_all: bool
    output_format: str


@click.command(epilog=EXAMPLES)
@click.option("--from", "token_in", required=True, metavar="T", help="Token to pay with: USDC@1, 0x…@1, or WETH.")
@click.option("--to", "token_out", required=True, metavar="T", help="Token to receive.")
@click.option("--amount", required=True, metavar="A", help="Whole tokens to pay; to receive with --exact-out.")
@click.option("--market", type=click.Path(path_type=Path), help="Market file.  [default: the sandbox market]")
@click.option("--exact-out", is_flag=True, help="Fix the amount received, not the amount paid.")
@click.option("--units", is_flag=True, help="--amount is in smallest units.")
@search_options
@click.option("--alternatives", type=int, default=0, metavar="N", help="Further routes to show, up to 5.")
@click.option("--pareto", is_flag=True, help="Show the best route for every fill time, as alternatives.")
@click.option("--explain", is_flag=True, help="Say in a few sentences what is proven of the route (table only).")
@click.option(
    "--archive", type=click.Path(path_type=Path), help="Keep request, market and answer in a file for `replay`."
)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the best route into a file: .svg, .png or .pdf.")
@click.option("--all", "show_all", is_flag=True, help="Show every step, not only the 20 largest (table only).")
@click.option("--format", "output_format", type=click.Choice([TABLE, JSON, CSV]), default=TABLE, show_default=True)
def route(**values: Any) -> None:
    """Find the best route for an amount, exact to the smallest unit.

    Exit codes: 0 found, 1 no route or too little liquidity (the reasons are on stderr), 2 wrong usage or input.
    """
    options = Options(search=SearchOptions.taken_from(values), **values)
    with reported(options.output_format):
        _route(options)


def _route(options: Options) -> None:
    started = time.perf_counter()
    market = load_market(options.market)
    request = _request(options, market)
    router = ready_router(market)
    loaded = time.perf_counter()
    with working("Searching …"):
        result = (router.find_pareto_set if options.pareto else router.find_routes)(request)
    finished = time.perf_counter()
    if options.archive:
        _archive(options.archive, options.pareto, result, market)
    try:
        best = result.best()
    except Unroutable as error:
        raise NothingFound(error, as_json=options.output_format == JSON, unavailable=result.unavailable) from error
    if options.plot:
        _draw(best, options.plot)
    gas_notes = _gas_notes(best, {**market.gas_prices, **(request.gas_prices or {})})
    for message in (*gas_notes, *_time_notes(best), *_impact_notes(result)):
        note(message)
    if not result.is_complete:
        note("the search ended with its budget; a better route may exist: raise --time-budget-ms or --work-budget")
    _write(options, result, market, (finished - loaded) * 1e3, (loaded - started) * 1e3)
    if options.explain and options.output_format == TABLE and result.certificate:
        click.echo(f"\n{fill(result.certificate.explain(), WIDTH)}")


def _archive(path: Path, is_pareto: bool, result: RouteResult, market: Snapshot) -> None:
    from routing_engine.archive.archive import PARETO, ROUTES, Archive

    Archive.of(result, market, search=PARETO if is_pareto else ROUTES).save(path)


def _draw(route: Route, path: Path) -> None:
    """Draw a route into a file; the kind of picture is that of the file's name.

    Raises
    ------
    InvalidRequest
        If matplotlib is not installed, or the file can't be written.
    """
    try:
        import matplotlib as mpl

        mpl.use("agg")
        from routing_engine.pictures.flow import draw_route
    except ModuleNotFoundError as error:
        message = f"needs {error.name}; run: pip install {error.name}, or install the extra 'quant'"
        raise InvalidRequest("--plot", message) from error
    figure = draw_route(route).get_figure(root=True)
    try:
        if figure:
            figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InvalidRequest("--plot", f"{path} can't be written: {error}") from error
    note(f"drew the route into {path}")


def _request(options: Options, market: Snapshot) -> RouteRequest:
    from routing_engine.request import RouteRequest
    from routing_engine.route import Side

    token_in, token_out = find_token(market, options.token_in, "--from"), find_token(market, options.token_out, "--to")
    fixed = token_out if options.exact_out else token_in
    try:
        return RouteRequest(
            token_in=token_in,
            token_out=token_out,
            amount=_amount(options, fixed),
            side=Side.EXACT_OUT if options.exact_out else Side.EXACT_IN,
            alternatives=options.alternatives,
            **options.search.fields(market),
        )
    except InvalidRequest as error:
        named = InvalidRequest(OPTION_OF.get(error.field, error.field), error.message)
        raise as_option(named) from error


def _amount(options: Options, token: Token) -> int:
    if options.units:
        return parse_units(options.amount, "--amount")
    return parse_amount(options.amount, token)


def _gas_notes(best: Route, gas_prices: dict[int, int]) -> Iterable[str]:
    chains = dict.fromkeys(hop.token_in.chain_id for hop in best.hops)
    unknown = [chain_id for chain_id in chains if chain_id not in gas_prices]
    for chain_id in unknown:
        yield f"no gas price is known for chain {chain_id}, so its gas counts as free; set --gas-price-gwei"
    if not unknown and not best.gas_priced:
        ends = f"{best.token_in} and {best.token_out}"
        yield f"no markets here lead from the coin that pays gas to {ends}: its worth is unknown, and it counts as free"


def _time_notes(best: Route) -> Iterable[str]:
    if best.fill_time_s >= LONG_S:
        remedy = "--order fastest or balanced, or --value-of-time, weighs time; --pareto shows what each hour saves"
        yield f"this route takes {write_duration(best.fill_time_s)}; {remedy}"


def _impact_notes(result: RouteResult) -> Iterable[str]:
    if result.warning:
        yield f"{result.warning}; trade less, or refuse such routes with --max-price-impact-bps"


def _write(options: Options, result: RouteResult, market: Snapshot, elapsed_ms: float, load_ms: float) -> None:
    from routing_engine.cli import route_report, route_table

    if options.output_format == JSON:
        write_json(route_report.document(result, elapsed_ms=elapsed_ms, load_ms=load_ms))
    elif options.output_format == CSV:
        click.echo(route_report.csv_text(result), nl=False)
    else:
        search = f"{elapsed_ms:.1f} ms over {len(market.markets):,} markets"
        write_rich(*route_table.tables(result, search, show_all=options.show_all))
