"""The checkout service: payment links, orders, routes, quotes and webhooks over HTTP.

May import `adapters` and `routing_engine`. Begin with `app.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from api.config import Config
    from api.domain.clock import Clock


def create_app(config: Config, *, clock: Clock | None = None) -> Flask:
    """Build the HTTP application.

    The import waits until the call, so that the operator's command line starts at once.

    Parameters
    ----------
    config : Config
        Settings of this process.
    clock : Clock, optional
        Where the service reads the time; the system's clock by default.
    """
    from api.context import build_resources

    resources = build_resources(config, clock=clock)
    from api.app import build_app  # here, since its schemas name the chains, and an operator's are added above

    return build_app(resources)
