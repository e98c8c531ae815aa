"""``routing-engine snapshot capture --follow``: set up, progress, and an end that loses nothing."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import click

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.capture_log import CaptureLog
from adapters.chain.price_feeds import find_feeds
from adapters.chain.protocol import AnyProtocol
from adapters.chain.tokens import ChainTokens
from adapters.cli.follow import Follower, Progress
from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from routing_engine.cli.terminal import JSON, note, write_json
from routing_engine.errors import BadRecording
from routing_engine.history.history import History
from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.history.writer import HistoryWriter
from routing_engine.model import Token


def record_chain(
    urls: Mapping[int, Sequence[str]],
    tokens: Iterable[Token],
    protocols: Callable[[int], Iterable[AnyProtocol]],
    out: Path,
    *,
    output_format: str,
    **options: Any,
) -> None:
    """Record one chain until it is interrupted; options as ``snapshot capture`` has them.

    Raises
    ------
    BadRecording
        If `out` cannot be gone on with.
    """
    if len(urls) != 1:
        raise click.UsageError("--follow records one chain: give --rpc for one, and run it once for each chain.")
    if options["fresh"] and out.exists():
        raise BadRecording(str(out), "", "is there already; with --fresh, choose another file or move it away")
    (chain_id,) = urls
    client = JsonClient(limits=RPC_LIMITS)
    rpc = RpcPool(chain_id, urls[chain_id], client=client)
    log = CaptureLog(out.with_name(f"{out.name}.chain-{chain_id}.part"))
    if options["fresh"]:
        log.remove()
    adapter = OnChainAdapter(
        rpc, protocols(chain_id), ChainTokens.from_tokens(tokens, chain_id), wrap=log.wrap, feeds=find_feeds(chain_id)
    )
    with ExitStack() as opened:
        for each in (client, rpc, log):
            opened.callback(each.close)
        writer = opened.enter_context(HistoryWriter(out, chain_id))
        _tell_resumed(writer)
        is_stopped = opened.enter_context(catch_signals())
        progress = opened.enter_context(show_blocks(writer))
        follower = Follower(rpc, adapter, writer, log, progress=progress, complain=note)
        done = follower.run(is_stopped, options["blocks"])
    _report_end(out, done, output_format)


@contextmanager
def catch_signals() -> Iterator[Event]:
    """Give an event that the first SIGINT or SIGTERM sets; a second one interrupts as always."""
    event = Event()
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}

    def tell_stop(*_: object) -> None:
        event.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for each in before:
        signal.signal(each, tell_stop)
    try:
        yield event
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def show_blocks(writer: HistoryWriter) -> Iterator[Progress]:
    """Give what to tell of blocks: a terminal shows the newest on stderr; reorganisations are told always."""
    known = len(writer.blocks)

    def tell_replaced(block: RecordedBlock) -> None:
        nonlocal known
        count = known + 1 - len(writer.blocks)
        if count > 0:
            note(f"block {block.number:,} replaces {count} {'block' if count == 1 else 'blocks'}: a reorganisation")
        known = len(writer.blocks)

    if not sys.stderr.isatty():
        yield tell_replaced
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status("Reading all pools …") as status:
        status.update(spinner="dots")  # draws it now: a frame later it may say something else

        def show(block: RecordedBlock) -> None:
            tell_replaced(block)
            size = writer.path.stat().st_size / 1e6
            status.update(
                f"block {block.number:,}: {block.changed:,} of {block.markets:,} markets changed; "
                f"{len(writer.blocks):,} blocks, {size:,.1f} MB; Ctrl-C ends it"
            )

        yield show


def _tell_resumed(writer: HistoryWriter) -> None:
    if writer.cut_off:
        note(f"the last {writer.cut_off:,} bytes, of a block that was being written, were taken off")
    if writer.blocks:
        note(f"goes on after block {writer.blocks[-1].number:,}; {len(writer.blocks):,} blocks are there")


def _report_end(out: Path, done: int, output_format: str) -> None:
    if not out.stat().st_size:
        out.unlink()
        note("nothing was recorded")
        return
    history = History.open(out)
    if output_format == JSON:
        write_json({"out": str(out), "recorded": done, "blocks": len(history), "last": history.blocks[-1]})
    else:
        click.echo(f"recorded {done:,} blocks to {out}: {history!r}")
