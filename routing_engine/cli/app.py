"""The commands' root, and how a run of it ends.

No module of this package imports numpy, numba or networkx before a command runs: ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import click

from routing_engine import __version__
from routing_engine.cli import EXIT_USAGE
from routing_engine.cli.analysis_commands import analyse
from routing_engine.cli.batch_command import batch
from routing_engine.cli.contributed import add_contributed
from routing_engine.cli.history_commands import backtest
from routing_engine.cli.replay_command import replay
from routing_engine.cli.route_command import route
from routing_engine.cli.snapshot_commands import snapshot
from routing_engine.cli.solve_command import solve
from routing_engine.cli.warm_command import warm

EXIT_INTERRUPTED = 130


EXAMPLES = """\b
Examples:
  routing-engine route --from WETH@1 --to USDC@8453 --amount 1.5
  routing-engine snapshot import recording.json.gz --out market.json.gz
  routing-engine route --market market.json.gz --from WETH --to USDC --amount 500
  routing-engine batch --market market.json.gz --requests requests.csv > answers.jsonl
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="routing-engine")
@click.option(
    "--chains", type=click.Path(path_type=Path), envvar="CHAINS_FILE", help="File of further chains.  [CHAINS_FILE]"
)
def cli(chains: Path | None) -> None:
    """Find exact routes over DEX pools and bridges, across chains.

    Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 no route, 2 wrong usage or input.
    """
    if chains is not None:
        from routing_engine.errors import BadChainsFile
        from routing_engine.reference.chains import add_chains

        try:
            add_chains(chains)
        except BadChainsFile as error:
            raise click.UsageError(f"--chains: {error}") from error


cli.add_command(snapshot)
cli.add_command(route)
cli.add_command(batch)
cli.add_command(replay)
cli.add_command(analyse)
cli.add_command(backtest)
cli.add_command(solve)
cli.add_command(warm)
add_contributed(cli)


def run() -> int:
    """Run the command of this process's arguments and return its exit code."""
    if hasattr(signal, "SIGPIPE"):
        # A reader such as `head` may leave early; the default action ends this process without a word.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that is not UTF-8 gets question marks instead of an error.
        sys.stdout.reconfigure(errors="replace")
    try:
        return cli.main(prog_name="routing-engine", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except OSError as error:
        click.echo(f"Error: the output cannot be written ({error.strerror})", err=True)
        # What is still buffered would fail again, with a traceback, when the interpreter closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_USAGE
