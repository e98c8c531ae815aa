"""Certificates attacked on random small markets of many kinds: what breaks, what is proven, how tight it is."""

from __future__ import annotations

from benchmarks.attacks import Attack, attack
from benchmarks.measure import percentile
from benchmarks.report import Row, Table, at_most, share
from benchmarks.sections import Entries, Setting

MARKETS, MARKETS_FULL = 1_000, 20_000
BETTER_BPS = 0.1
MOST_SHOWN = 20


def run(setting: Setting) -> Entries:
    """Attack 1,000 markets, or 20,000 in a full run."""
    tried: list[Attack] = []
    failed: list[tuple[str, str]] = []
    count = MARKETS_FULL if setting.full else MARKETS
    for seed in range(count):
        if seed % 50 == 0:
            setting.note(f"{seed:,} of {count:,}")
        try:
            tried += attack(seed)
        except Exception as error:  # what fails is a result here
            failed.append((f"seed {seed}", f"{type(error).__name__}: {error}"))
    broken = [each for each in tried if each.broken]
    claimed = [each for each in tried if each.claimed]
    beaten = sorted((each for each in claimed if each.better_bps > BETTER_BPS), key=lambda each: -each.better_bps)
    yield at_most(f"bounds broken, of {len(claimed):,} on {count:,} markets", len(broken), 0, "bounds")
    yield at_most("searches that fail with an error", len(failed), 0, "errors")
    yield share("an answer where the rival has one", [each.found for each in tried], 1)
    yield share("answers with a gap", [each.claimed for each in tried], 0.9)
    yield share(f"no rival better by {BETTER_BPS} bps", [each.better_bps <= BETTER_BPS for each in claimed], 1)
    slack = percentile([each.slack_bps for each in claimed], 50)
    yield Row(
        what="bound above the best rival, median", target="", measured=f"{slack:.3g} bps", value=slack, unit="bps"
    )  # fmt: skip
    rows = [*failed, *((f"seed {each.seed}, {each.side}", each.broken) for each in broken)]
    if rows:
        yield Table(title="Broken bounds and errors", columns=("where", "what"), rows=tuple(rows[:MOST_SHOWN]))
    if beaten:
        yield Table(
            title=f"Where a rival is better, and the certificate allows it: {len(beaten)}; the worst",
            columns=("where", "rival better by bps"),
            rows=tuple((f"seed {each.seed}, {each.side}", f"{each.better_bps:.4g}") for each in beaten[:MOST_SHOWN]),
        )
