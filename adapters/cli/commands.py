"""Commands that need the network: ``routing-engine snapshot capture`` and ``routing-engine adapters``.

Nothing heavy is imported before a command runs: ``--help`` answers at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adapters.rpc.urls import is_endpoint
from routing_engine.cli.snapshot_commands import describe
from routing_engine.cli.terminal import JSON, TABLE, note, reported, write_json, write_rich

if TYPE_CHECKING:
    from adapters.chain.protocol import AnyProtocol
    from adapters.cli.capture import Captured, ChainReport

EXIT_INCOMPLETE = 1
F = TypeVar("F", bound=Callable[..., Any])
FORMATS = click.Choice([TABLE, JSON])
FILE = click.Path(path_type=Path)
LONGEST_URL = 2000
EVERY = "all"


def gather_endpoints(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[int, list[str]]:
    """Gather the URLs of each chain, in the order given, from options of the form ``CHAIN=URL``."""
    found: dict[int, list[str]] = {}
    for value in values:
        chain, _, url = value.partition("=")
        if not (chain.isascii() and chain.isdecimal() and len(chain) <= 18):
            raise click.BadParameter(f"{value[:40]!r} must begin with a chain id: 1=https://…")
        if not is_endpoint(url) or len(url) > LONGEST_URL or not url.isprintable():
            raise click.BadParameter(f"chain {chain} needs an http or https URL, or a socket: {chain}=https://…")
        found.setdefault(int(chain), []).append(url)
    return found


def add_rpc_option(*, required: bool) -> Callable[[F], F]:
    """Return the option ``--rpc``."""
    return click.option(
        "--rpc",
        "urls",
        metavar="CHAIN=URL",
        multiple=True,
        required=required,
        callback=gather_endpoints,
        help="A chain's endpoint; repeatable, also for one chain.",
    )


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Keep warnings from the terminal: the command itself tells of what they are about."""
    logger = logging.getLogger("adapters")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


@click.command()
@add_rpc_option(required=True)
@click.option("--out", required=True, type=FILE, help="File to write; compressed if it ends in .gz.")
@click.option("--tokens", "token_file", type=FILE, help="Token list (JSON) to look for pools of.  [default: built in]")
@click.option("--protocol", "names", multiple=True, help="Only this protocol; repeatable.  [default: all installed]")
@click.option("--fresh", is_flag=True, help="Do not go on with an interrupted capture.")
@click.option("--follow", is_flag=True, help="Record every further block of one chain into OUT until interrupted.")
@click.option("--blocks", type=click.IntRange(1), metavar="N", help="With --follow: stop after so many blocks.")
@click.option("--format", "output_format", type=FORMATS, default=TABLE, show_default=True)
def capture(
    urls: Mapping[int, Sequence[str]],
    out: Path,
    token_file: Path | None,
    names: Sequence[str],
    output_format: str,
    **options: Any,
) -> None:
    """Read all pools of listed tokens from chains and write them to a market file.

    Each chain is read at one block. Several endpoints of a chain stand in for each other. Interrupted, or left
    incomplete, the capture goes on where it stopped when it is run again soon.

    With --follow OUT is a recording of one chain, block by block, for the time machine and backtests. Ctrl-C ends it;
    run again, it goes on, also after a crash. What reorganisations replace is recorded too.

    Exit codes: 0 all there, 1 something is missing, 2 wrong usage or input.
    """
    from adapters.cli.capture import Capture
    from adapters.cli.progress import show_progress
    from adapters.cli.token_list import load_tokens

    with reported(output_format):
        tokens, protocols = load_tokens(token_file), _choose_protocols(urls, names)
        if options["follow"]:
            from adapters.cli.follow_run import record_chain

            record_chain(urls, tokens, protocols, out, output_format=output_format, **options)
            return
    if options["blocks"]:
        raise click.UsageError("--blocks needs --follow.")
    with silence_warnings(), show_progress() as progress:
        job = Capture(urls, tokens, protocols, out, progress=progress)
        if options["fresh"]:
            job.finish()
        captured = job.run()
    with reported(output_format):
        _save(captured, out)
    is_complete = all(report.is_complete for report in captured.reports)
    if is_complete:
        job.finish()
    _show(captured, out, output_format)
    if not is_complete:
        note("run the same again to ask for what does not answer; --fresh, to ask for everything at a new block")
        raise click.exceptions.Exit(EXIT_INCOMPLETE)


def _choose_protocols(chain_ids: Iterable[int], names: Sequence[str]) -> Callable[[int], tuple[AnyProtocol, ...]]:
    """Return what gives a chain's protocols, less those that were not named."""
    from adapters.chain.protocol import find_protocols
    from routing_engine.errors import InvalidRequest

    by_chain = {chain_id: find_protocols(chain_id) for chain_id in chain_ids}
    known = {protocol.name for protocols in by_chain.values() for protocol in protocols}
    for name in names:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise InvalidRequest("--protocol", f"{name!r} is not on these chains; there are {there}")
    return lambda chain_id: tuple(each for each in by_chain[chain_id] if not names or each.name in names)


def _save(captured: Captured, out: Path) -> None:
    from routing_engine.errors import InvalidRequest

    try:
        captured.snapshot.save(out)
    except OSError as error:
        raise InvalidRequest("--out", f"{out} cannot be written ({error.strerror}); choose another") from error


def _show(captured: Captured, out: Path, output_format: str) -> None:
    from adapters.cli.tables import list_complaints, make_capture_table

    if output_format == JSON:
        chains = list(map(_make_record, captured.reports))
        write_json({**describe(captured.snapshot), "chains": chains, "out": str(out)})
    else:
        write_rich(make_capture_table(captured))
    for line in list_complaints(captured):
        note(line)


def _make_record(report: ChainReport) -> dict[str, Any]:
    return {
        "chain_id": report.chain_id,
        "complete": report.is_complete,
        "fault": report.fault,
        "faults": dict(report.faults),
        "notes": list(report.notes),
        "endpoints": [
            {"host": each.host, "state": each.state, "head": each.head, "in_step": each.in_step, "fault": each.fault}
            for each in report.endpoints
        ],
        "requests": report.traffic.requests,
        "bytes_sent": report.traffic.bytes_sent,
        "bytes_received": report.traffic.bytes_received,
    }


@click.command("adapters")
@add_rpc_option(required=False)
@click.option("--check", "wanted", multiple=True, metavar="NAME", help="Read this adapter once, or 'all'; repeatable.")
@click.option("--format", "output_format", type=FORMATS, default=TABLE, show_default=True)
def list_adapters(urls: Mapping[int, Sequence[str]], wanted: Sequence[str], output_format: str) -> None:
    """List the installed adapters and protocols, and the health of endpoints.

    Exit codes: 0 all well, 1 something is in trouble, 2 wrong usage.
    """
    from adapters.cli import listing
    from adapters.cli.tables import describe_left_out, make_listing_tables

    found = list(listing.list_installed())
    names = [each.name for each in found if each.kind == listing.SERVICE]
    for name in wanted:
        if name not in (*names, EVERY):
            raise click.UsageError(f"--check: {name!r} is not installed; there are {', '.join(names)}")
    health = list(listing.ask_endpoints(urls))
    with silence_warnings():
        results = list(listing.check_adapters(names if EVERY in wanted else wanted, urls))
    if output_format == JSON:
        write_json(
            {
                "installed": [asdict(each) for each in found],
                "endpoints": [{"chain_id": chain_id, **asdict(each)} for chain_id, each in health],
                "checked": [asdict(each) for each in results],
            }
        )
    else:
        write_rich(*make_listing_tables(found, health, results))
    for result in results:
        for reason, count in result.refused.items():
            note(f"{result.name}: {describe_left_out(reason, count)}")
    if any(each.fault for _, each in health) or any(each.trouble for each in results):
        raise click.exceptions.Exit(EXIT_INCOMPLETE)
