"""``routing-engine warm``: compile before the first search has to wait for it."""

from __future__ import annotations

import click


@click.command()
def warm() -> None:
    """Compile the routing kernels, with progress on stderr.

    The first router on a machine, and the first after an update, does so otherwise: half a minute to a minute on two
    idle cores.
    So does the first one that meets a stable, weighted, Solidly or crypto pool: some seconds on one core.
    They are kept on disk; what is compiled already takes seconds.
    """
    from routing_engine.warm_up import main

    main(with_formulas=True)
