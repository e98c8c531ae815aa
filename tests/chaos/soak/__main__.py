"""The command of `make soak`."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.chaos.soak.plan import Plan
from tests.chaos.soak.report import write_report
from tests.chaos.soak.run import run_soak

KILLS_A_MINUTE = 12
STOPS_A_MINUTE = 3


def main() -> int:
    """Run, write the report, and say what did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.soak", description=__doc__)
    parser.add_argument("--rate", type=float, default=100, help="orders a second")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=7, help="of all dice")
    parser.add_argument("--kills", type=int, help=f"by default {KILLS_A_MINUTE} a minute")
    parser.add_argument("--stops", type=int, help=f"by default {STOPS_A_MINUTE} a minute")
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    given = parser.parse_args()
    plan = Plan(
        seconds=given.minutes * 60,
        rate=given.rate,
        seed=given.seed,
        kills=round(KILLS_A_MINUTE * given.minutes) if given.kills is None else given.kills,
        stops=round(STOPS_A_MINUTE * given.minutes) if given.stops is None else given.stops,
    )
    shutil.rmtree(given.out, ignore_errors=True)
    run = run_soak(plan, given.out)
    print(f"The report is {write_report(run, given.out)}")
    broken = [*run.verdict.wrong, *run.verdict.late]
    for each in broken:
        print(f"does not hold: {each}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
