"""The command line ``routing-engine``, for people who work with markets and routes.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 no route, 2 wrong usage or input.

May import `amounts`, `analysis`, `archive`, `auction`, `backtest`, `batch`, `certificate`, `errors`, `extensions`,
`fixed_point`, `formats`, `frames`, `history`, `model`, `objective`, `paths`, `pictures`, `reference`, `request`,
`resolution`, `result`, `route`, `router`, `snapshot`, `token_fields` and `warm_up`. Begin with `app.py`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDS = ("click", "rich")
EXIT_USAGE = 2


def main() -> None:
    """Run ``routing-engine`` with the arguments of this process."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        print(f"Error: {' and '.join(missing)} missing; run: pip install {' '.join(missing)}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    from routing_engine.cli.app import run

    sys.exit(run())
