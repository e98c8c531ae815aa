"""Commands on recorded markets: ``routing-engine analyse execution`` and ``routing-engine backtest``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from routing_engine.amounts import parse_decimal
from routing_engine.cli.analysis_commands import (
    AMOUNT,
    FILE,
    FORMAT,
    analyse,
    read_request,
    reported_as_option,
    take_pair,
    write_table,
)
from routing_engine.cli.search_options import SearchOptions, find_token, parse_amount, ready_router, search_options
from routing_engine.cli.terminal import TABLE, load_market, note, show_progress, working

if TYPE_CHECKING:
    from routing_engine.history.history import History
    from routing_engine.model import Token
    from routing_engine.snapshot.snapshot import Snapshot

HISTORY = click.option("--history", type=FILE, help="Recording, or with --deltas a market file.")
DELTAS = click.option("--deltas", type=FILE, help="Block deltas of a market file, in the neutral format.")

EXAMPLES = """\b
Examples:
  routing-engine backtest --history eth.recording --from USDC --to WETH --amount 1000 --every 50
  routing-engine backtest --history market.json.gz --deltas deltas.json.gz --from WETH --to USDC --amount 5 \\
    --latency 2 --slippage-bps 10 --format csv > trades.csv
"""


@analyse.command()
@take_pair
@AMOUNT
@HISTORY
@DELTAS
@click.option("--block", type=int, metavar="N", help="With --history: the trade's; judged on the market before it.")
@click.option("--got", required=True, metavar="A", help="Whole tokens that the trade brought.")
@click.option("--gas", type=click.IntRange(0), metavar="N", help="Gas that it used.  [default: gas does not count]")
def execution(market: Path | None, output_format: str, got: str, gas: int | None, **values: Any) -> None:
    """Say how much better a settled trade could have been: at least by a route that was there, at most by proof."""
    with reported_as_option(output_format):
        snapshot = _load_before(market, values.pop("history"), values.pop("deltas"), values.pop("block"))
        request = read_request(snapshot, values)
        router = ready_router(snapshot)
        from routing_engine.analysis.execution import SettledTrade, judge_trades

        token_out = find_token(snapshot, str(values["token_out"]), "--to")
        trade = SettledTrade(
            token_in=request.token_in,
            token_out=token_out,
            amount_in=request.amount,
            amount_out=parse_decimal(got, token_out.decimals, "--got", str(token_out)),
            gas=gas,
        )
        options = {name: getattr(request, name) for name in JUDGED_BY}
        found = judge_trades(router, [trade], **options)
        write_table(found, output_format)
        certificate = found.executions[0].certificate
    if output_format == TABLE and certificate is not None:
        note(certificate.explain())


JUDGED_BY = (
    "order", "max_hops", "max_splits", "value_of_time", "max_price_impact_bps", "allow_protocols", "deny_protocols",
    "allow_chains", "deny_chains", "gas_prices", "time_budget_ms",
)  # fmt: skip
"""Fields of a request that say against what a trade is judged."""


@click.command(epilog=EXAMPLES)
@click.option("--history", "recording", type=FILE, required=True, help="Recording, or with --deltas a market file.")
@DELTAS
@click.option("--from", "token_in", required=True, metavar="T", help="Token to pay with: USDC@1 or WETH.")
@click.option("--to", "token_out", required=True, metavar="T", help="Token to receive.")
@AMOUNT
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Trade each N blocks.")
@click.option(
    "--latency", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Blocks to the fill."
)
@click.option("--slippage-bps", type=click.FloatRange(0, 10_000), default=50.0, show_default=True, metavar="BPS")
@search_options
@FORMAT
def backtest(
    recording: Path,
    deltas: Path | None,
    every: int,
    latency: int,
    slippage_bps: float,
    output_format: str,
    **values: Any,
) -> None:
    """Sell the same amount again and again on a recorded market, and say what became of each trade.

    What it takes is there from the beginning. The equity is counted in the token that is sold. Strategies of your own
    are functions: see docs/history.md.
    """
    options = SearchOptions.taken_from(values)
    with reported_as_option(output_format):
        history = _open(recording, deltas)
        first = history[0]
        token_in = find_token(first, values["token_in"], "--from")
        token_out = find_token(first, values["token_out"], "--to")
        amount = parse_amount(values["amount"], token_in)
        from routing_engine.backtest.backtest import backtest as run
        from routing_engine.backtest.backtest import trade_every
        from routing_engine.request import RouteRequest
        from routing_engine.warm_up import warm_up

        with working("Preparing the search …"):
            warm_up()
        request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, **options.fields(first))
        funds: dict[Token | str, int] = {token_in: amount * len(history)}
        with show_progress("Blocks") as progress:
            done = run(
                history, trade_every(every, request), funds, value_in=token_in, latency=latency,
                slippage_bps=slippage_bps, gas_prices=request.gas_prices, progress=progress,
            )  # fmt: skip
        write_table(done, output_format)


def _open(recording: Path, deltas: Path | None) -> History:
    with working(f"Opening {recording} …"):
        from routing_engine.history.history import History

        history = History.open(recording, deltas=deltas)
    if history.cut_off:
        note(f"the last {history.cut_off:,} bytes of {recording} are of a block that was being written: left out")
    return history


def _load_before(market: Path | None, recording: Path | None, deltas: Path | None, block: int | None) -> Snapshot:
    """Return the market that a trade met: a market file, or that of the block before the trade's."""
    if recording is None:
        if block is not None or deltas is not None:
            raise click.UsageError("--block and --deltas need --history.")
        return load_market(market)
    if market is not None or block is None:
        raise click.UsageError("With --history give --block, and no --market.")
    return _open(recording, deltas).at(block - 1)
