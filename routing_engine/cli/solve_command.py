"""``routing-engine solve``: batch auctions of limit orders. Other packages add their commands to this group."""

from __future__ import annotations

from pathlib import Path

import click

from routing_engine.cli.terminal import JSON, note, reported, working, write_json

EXAMPLES = """\b
Examples:
  routing-engine solve auction auction.json > solutions.json
"""
SHOWN = 10


@click.group(epilog=EXAMPLES)
def solve() -> None:
    """Solve auctions of CoW Protocol: limit orders, alone and together, on the auction's own liquidity."""


@solve.command()
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--chain", "chain_id", type=click.IntRange(1), default=1, show_default=True, help="Whose auction it is.")
@click.option("--longest-s", type=click.FloatRange(0.1, 600), default=20, show_default=True, help="Most time to take.")
def auction(path: Path, chain_id: int, longest_s: float) -> None:
    """Solve the auction in FILE, the body of a POST /solve, and write the answer's body.

    The deadline in the file does not count: it may be long over. What can't be used is told on stderr.

    Exit codes: 0 solved, also where no order can be; 2 wrong usage or input.
    """
    with reported(JSON):
        from routing_engine.auction.files import load_auction
        from routing_engine.auction.solver import solve_anytime
        from routing_engine.auction.writing import write_solutions

        found = load_auction(path, chain_id)
        for skipped in found.skipped[:SHOWN]:
            note(f"left out: {skipped}")
        if len(found.skipped) > SHOWN:
            note(f"left out: {len(found.skipped) - SHOWN} more")
        with working("Solving …"):
            solved = solve_anytime(found, chain_id=chain_id, longest_s=longest_s)
        write_json(write_solutions(solved.solutions))
