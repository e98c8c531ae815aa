"""``routing-engine bench``: measure solvers, compare runs, write reports. Nothing heavy is imported before it runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.harness.suite import Arena

NEEDS = ("clarabel", "cvxpy", "matplotlib", "rustworkx")
RUNS = Path(".benchmarks/runs.jsonl")
FILE = click.Path(path_type=Path)
EXIT_WORSE, EXIT_USAGE = 1, 2
QUICK, FULL, GROWTH = SUITES = "quick", "full", "growth"
OURS = "routing_engine"
SLOW = ("balancer_sor", "uniswap_sor")
"""Asked in the quick suite only where they are named: they need npm, and seconds for a request."""

EXAMPLES = """\b
Examples:
  routing-engine bench run --suite quick
  routing-engine bench run --suite my-markets/ --solver routing_engine --solver http://127.0.0.1:8080
  routing-engine bench report --html report.html
  routing-engine bench compare before.jsonl after.jsonl --fail-over 5%
"""


class Percent(click.ParamType):
    """``5%`` or ``5``, as a part."""

    name = "PERCENT"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the part of one."""
        if isinstance(value, float):
            return value
        try:
            percent = float(str(value).removesuffix("%"))
        except ValueError:
            percent = -1.0
        if not 0 <= percent < float("inf"):
            self.fail(f"{value!r} is no percentage of 0 or more, such as 5%", param, ctx)
        return percent / 100


@click.group(epilog=EXAMPLES)
def bench() -> None:
    """Judge routers side by side: anybody's, on the same requests, replayed exactly."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        error = click.ClickException(f"{', '.join(missing)} missing; run: pip install 'routing-engine[bench]'")
        error.exit_code = EXIT_USAGE
        raise error


@bench.command()
@click.option("--suite", default=QUICK, show_default=True, metavar="quick|full|growth|FOLDER", help="What is asked.")
@click.option(
    "--solver", "solvers", multiple=True, metavar="NAME|module:object|URL", help="Who; repeat it.  [default: all]"
)
@click.option("--runs", type=FILE, default=RUNS, show_default=True, help="File that the run is added to.")
@click.option("--timeout", type=click.FloatRange(0.01), default=10.0, show_default=True, help="Seconds for an answer.")
@click.option("--start-timeout", type=click.FloatRange(0.1), default=120.0, show_default=True, help="Seconds to start.")
@click.option("--most", type=click.IntRange(1), metavar="N", help="Ask at most N requests of each group.")
@click.option("--gas-price-gwei", "gas_prices", multiple=True, metavar="G|CHAIN=G", help="For a folder's markets.")
@click.option("--continue", "cut", type=FILE, metavar="FILE", help="Go on with a run that was cut, from its file.")
def run(
    suite: str, solvers: tuple[str, ...], runs: Path, timeout: float, start_timeout: float, most: int | None,
    gas_prices: tuple[str, ...], cut: Path | None,
) -> None:  # fmt: skip
    """Ask every solver every request, judge the answers, and keep the figures.

    What is done is kept after each market, in a file beside that of the runs, which goes once the run is whole: it can
    be reported as any run, and --continue goes on with it, given the same options.
    """
    from benchmarks.harness.session import Limits
    from benchmarks.harness.solver import UnknownSolver, check_name, list_solvers
    from benchmarks.reports.document import NoRun
    from benchmarks.reports.kept import OtherRun, Plan, play
    from benchmarks.reports.markdown import write_summary
    from benchmarks.suites.folder import BadFolder
    from routing_engine.errors import RoutingError

    usual = [name for name in list_solvers() if suite != QUICK or name not in SLOW]
    names = tuple(dict.fromkeys(solvers or sorted(usual, key=lambda name: name != OURS)))
    plan = Plan(
        suite=suite if suite in SUITES else Path(suite).name, solvers=names, runs=runs,
        limits=Limits(start_s=start_timeout, answer_s=timeout), started=datetime.now(UTC),
    )  # fmt: skip
    try:
        for name in names:
            check_name(name)
        document = play(plan, _open(suite, gas_prices, most), _say, cut)
    except (BadFolder, NoRun, OtherRun, RoutingError, UnknownSolver) as error:
        raise click.UsageError(str(error)) from error
    click.echo(write_summary(document))
    _say(f"added to {runs}")


def _open(suite: str, gas_prices: Sequence[str], most: int | None) -> Iterator[Arena]:
    from benchmarks.harness.suite import thin
    from benchmarks.suites import folder, full, growth, quick

    if suite == QUICK:
        arenas = quick.list_arenas()
    elif suite == FULL:
        arenas = full.list_arenas(Path(os.environ.get("SHARED_DATA", "../shared")))
    elif suite == GROWTH:
        arenas = growth.list_arenas()
    else:
        arenas = folder.list_arenas(Path(suite), gas_prices)
    return arenas if most is None else (thin(arena, most) for arena in arenas)


@bench.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--fail-over", type=Percent(), default=0.05, show_default="5%", help="How much worse a figure may be.")
@click.option(
    "--only", type=click.Choice(["quality", "time", "memory"]), multiple=True, help="Which figures.  [default: all]"
)
@click.option("--solver", "solvers", multiple=True, help="Whose figures.  [default: everybody's]")
def compare(before: str, after: str, fail_over: float, only: tuple[str, ...], solvers: tuple[str, ...]) -> None:
    """Say what changed from run A to run B; exit with 1 if a figure is worse by more than is allowed.

    A and B are files of runs, of which the last one counts; FILE#2 is the second, FILE#-2 the last but one.
    """
    from benchmarks.reports.compare import compare as compare_runs
    from benchmarks.reports.compare import list_shown
    from benchmarks.reports.document import NoRun, read_run
    from benchmarks.reports.markdown import write_changes

    try:
        found = compare_runs(read_run(before), read_run(after), only or ("quality", "time", "memory"))
    except NoRun as error:
        raise click.UsageError(str(error)) from error
    changes = [each for each in found.changes if not solvers or each.key[0] in solvers]
    lost = [each for each in found.lost if not solvers or each.split(": ")[0] in solvers]
    if not changes and not lost:
        raise click.UsageError(f"nothing can be compared: {'; '.join(found.skipped) or 'no figure is in both'}")
    worse = [each for each in changes if each.is_regression(fail_over)]
    click.echo(write_changes(list(list_shown(changes, fail_over)), found.skipped, lost))
    if worse or lost:
        names = [*(each.name for each in sorted(worse, key=lambda each: -(each.worse or 0))), *lost]
        _say(f"worse by more than {100 * fail_over:g} %: {len(names)} of {len(changes)} figures; first {names[0]}")
        raise click.exceptions.Exit(EXIT_WORSE)
    _say(f"none of {len(changes)} figures is worse by more than {100 * fail_over:g} %")


@bench.command()
@click.argument("names", nargs=-1, metavar="[RUN]…")
@click.option("--html", type=FILE, help="Write one file with the pictures, which needs nothing else.")
@click.option("--markdown", type=FILE, help="Write all tables as Markdown.")
@click.option("--json", "as_json", type=FILE, help="Write the run as JSON, by itself.")
@click.option("--summary", is_flag=True, help="Print the first table only.")
def report(
    names: tuple[str, ...], html: Path | None, markdown: Path | None, as_json: Path | None, summary: bool
) -> None:
    """Tell what runs measured: on stdout, or in files.

    RUN is a file of runs, of which the last one counts, or FILE#2; without it .benchmarks/runs.jsonl. Earlier runs of
    the same suite are its history. Of several, --html makes one page, with their pictures side by side.
    """
    import json

    from benchmarks.reports.document import NoRun, read_told
    from benchmarks.reports.markdown import write_markdown, write_summary

    if as_json and len(names) > 1:
        raise click.UsageError("--json takes one run; name one")
    try:
        told = [read_told(name) for name in names or (str(RUNS),)]
    except NoRun as error:
        raise click.UsageError(str(error)) from error

    def tell() -> str:
        return "\n".join(write_markdown(run, history) for run, history in told)

    files = {markdown: tell, as_json: lambda: json.dumps(told[0][0], indent=1, ensure_ascii=False) + "\n"}
    if html:
        from benchmarks.reports.html import write_html

        files[html] = lambda: write_html(told)
    for path, write in files.items():
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write(), encoding="utf-8")
            _say(f"written: {path}")
    if not any(files):
        click.echo("\n".join(write_summary(run) for run, _ in told) if summary else tell())


@bench.command(name="solvers")
def show_solvers() -> None:
    """List the installed solvers, one a line."""
    from benchmarks.harness.solver import list_solvers

    for name in list_solvers():
        click.echo(name)


def _say(text: str) -> None:
    click.echo(text, err=True)
