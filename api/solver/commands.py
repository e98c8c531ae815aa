"""``routing-engine solve serve``."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65_535), default=7872, show_default=True)
@click.option("--chain", "chain_id", type=click.IntRange(1), default=1, show_default=True, help="Whose auctions.")
@click.option(
    "--longest-s", type=click.FloatRange(0.1, 600), default=20, show_default=True, help="Most for an auction."
)
def serve(host: str, port: int, chain_id: int, longest_s: float) -> None:
    """Answer CoW Protocol's drivers: POST /solve, POST /notify, GET /healthz. Ends with SIGTERM or SIGINT.

    It asks for no key: let only your driver reach it.
    """
    import uvicorn
    from a2wsgi import WSGIMiddleware

    from api.logs import configure_logging
    from api.solver.app import build_solver
    from routing_engine.warm_up import warm_up

    configure_logging("INFO")
    warm_up()
    wsgi: Any = build_solver(chain_id=chain_id, longest_s=longest_s)
    app: Any = WSGIMiddleware(wsgi)
    uvicorn.run(app, host=host, port=port, log_config=None, access_log=False, server_header=False)
