"""What captures and listings found, as tables and lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from adapters.base import UNAVAILABLE
from adapters.cli.capture import Captured
from adapters.cli.listing import Checked, Installed
from adapters.rpc.endpoint_health import EndpointHealth
from routing_engine.cli.terminal import plain_table
from routing_engine.reference.chains import CHAINS
from routing_engine.token_fields import printable

if TYPE_CHECKING:
    from rich.table import Table

MEGABYTE = 10**6


def make_capture_table(captured: Captured) -> Table:
    """Return a row for each chain."""
    counts = Counter(market.tokens[0].chain_id for market in captured.snapshot.markets.values())
    title = f"Captured {len(captured.snapshot.markets):,} markets"
    table = plain_table(title, "chain", "block", "markets", "requests", "MB sent", "MB received")
    for report in captured.reports:
        name = CHAINS[report.chain_id].name if report.chain_id in CHAINS else str(report.chain_id)
        block = captured.snapshot.blocks.get(report.chain_id)
        table.add_row(
            name,
            f"{block:,}" if block is not None else "none",
            f"{counts[report.chain_id]:,}",
            f"{report.traffic.requests:,}",
            f"{report.traffic.bytes_sent / MEGABYTE:.1f}",
            f"{report.traffic.bytes_received / MEGABYTE:.1f}",
        )
    return table


def list_complaints(captured: Captured) -> Iterator[str]:
    """Say what is missing and why, then what is odd."""
    for report in captured.reports:
        chain = f"chain {report.chain_id}"
        if report.fault:
            yield f"{chain} is missing: {report.fault}"
        for name, fault in report.faults.items():
            yield f"{chain}: {name} is missing: {fault}"
        for endpoint in report.endpoints:
            if endpoint.fault:
                yield f"{chain}: an endpoint failed: {endpoint.fault}"
        for line in report.notes:
            yield f"{chain}: {line}"
    for reason, count in sorted(captured.snapshot.refused.items()):
        if not reason.endswith(UNAVAILABLE):
            yield describe_left_out(reason, count)


def describe_left_out(reason: str, count: int) -> str:
    """Say how many pools are left out, and why."""
    return f"{count:,} {'pool' if count == 1 else 'pools'} left out: {reason}"


def make_listing_tables(
    found: Sequence[Installed], health: Sequence[tuple[int, EndpointHealth]], results: Sequence[Checked]
) -> Iterator[Table]:
    """Return what is installed, then how endpoints are doing and what sources gave, as far as they were asked."""
    table = plain_table("Installed", "name", "kind", "chains", "where", text_columns=4)
    for each in found:
        table.add_row(printable(each.name), each.kind, ", ".join(map(str, each.chains)), printable(each.where))
    yield table
    if health:
        table = plain_table("Endpoints", "chain", "host", "health", "fault", "block", text_columns=4)
        for chain_id, endpoint in health:
            head = f"{endpoint.head:,}" if endpoint.head is not None else ""
            row = (
                str(chain_id),
                printable(endpoint.host),
                _describe_standing(endpoint),
                printable(endpoint.fault),
                head,
            )
            table.add_row(*row)
        yield table
    if results:
        table = plain_table("Read once", "source", "trouble", "reason", "markets", "seconds", text_columns=3)
        for result in results:
            told = map(printable, (result.name, result.trouble or "none", result.reason))
            table.add_row(*told, f"{result.markets:,}", f"{result.seconds:.1f}")
        yield table


def _describe_standing(endpoint: EndpointHealth) -> str:
    if endpoint.head is None:
        return "down"
    return "up" if endpoint.in_step else "out of step"
