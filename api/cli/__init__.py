"""The command line ``checkout``: for operators beside the database, for integrators over HTTP.

May import `config`, `context`, `counting`, `domain`, `logs`, `doubtful_settings`, `routing_engine`, `secrets`,
`services`, `serving`, `setting_values`, `settings`, `startup`, `storage` and `worker`. Begin with `commands.py`.
"""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec

NEEDS = ("click", "flask", "sqlalchemy", "uvicorn")
"""Some of what the extra ``api`` brings: where one is missing, the extra was not installed."""

EXIT_USAGE = 2
COLLECT_AFTER = 20_000
"""New objects before Python looks for cycles among them, instead of 700: two thousand modules make many objects and no
garbage, and a sixth of the processor time of a start went into looking for it."""


def main() -> None:
    """Run ``checkout`` with the arguments of this process."""
    gc.set_threshold(COLLECT_AFTER)
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        print(f"Error: {', '.join(missing)} missing; run: pip install -e '.[api]', or make serve", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    from api.cli.commands import main as run

    run()
