"""The command line ``checkout``: for operators beside the database, for integrators over HTTP.

May import `config`, `context`, `domain`, `logs`, `secrets`, `server`, `services`, `settings`, `shared_metrics`,
`start_checks`, `storage`, `up` and `worker`. Begin with `commands.py`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDS = ("click", "flask", "sqlalchemy", "uvicorn")
"""Some of what the extra ``api`` brings: where one is missing, the extra was not installed."""

EXIT_USAGE = 2


def main() -> None:
    """Run ``checkout`` with the arguments of this process."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        print(f"Error: {', '.join(missing)} missing; run: pip install -e '.[api]', or make serve", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    from api.cli.commands import main as run

    run()
