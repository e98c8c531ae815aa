"""The composition root: makes the resources of a process, and hands them to its requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from flask import Flask, current_app, g

from api.config import Config, ConfigError, count_processors
from api.domain.clock import Clock, SystemClock
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.services.chains.chain_access import connect_chains
from api.services.chains.screening import Screen, find_screen
from api.services.chains.waiting_room import WaitingRoom
from api.services.ledger.chain_ledger import connect_ledger
from api.services.market.market import MarketService
from api.services.market.search_turns import SearchTurns
from api.services.market.supply import choose_supply
from api.services.resources import Resources
from api.services.simulator.ledger import SimulatedLedger
from api.storage.db import Database
from api.storage.private_files import make_private_folder
from routing_engine.errors import BadChainsFile
from routing_engine.reference.chains import add_chains

EXTENSION = "checkout"
OWN = "own_resources"
"""Of a request, in its `flask.g`."""


def build_resources(config: Config, *, clock: Clock | None = None) -> Resources:
    """Open the database and take the system's clock unless another is given; the market is loaded at its first use.

    Raises
    ------
    ConfigError
        If the check of addresses that is configured is not installed, CHAINS_FILE is wrong, or DATA_DIR is not the
        service's own.
    """
    clock = clock or SystemClock()
    _add_chains(config)
    _make_data_dir(config)
    database = Database(config.database_url, is_pooled=config.database_pooled)
    return Resources(
        config=config,
        clock=clock,
        database=database,
        market=MarketService(choose_supply(config, clock), clock),
        searches=SearchTurns(max(1, count_processors() // config.web_workers)),
        chain_access=connect_chains(config, clock),
        ledgers=_connect_ledgers(config, database, clock),
        screen=_find_screen(config),
        waiting_room=WaitingRoom(config.web_threads // 2),
        lobby=WaitingRoom(config.web_threads // 4),
        name_room=WaitingRoom(config.web_threads // 8),
    )


def _add_chains(config: Config) -> None:
    try:
        if config.chains_file is not None:
            add_chains(config.chains_file)
    except BadChainsFile as error:
        raise ConfigError(f"CHAINS_FILE: {error}") from error


def _make_data_dir(config: Config) -> None:
    try:
        make_private_folder(config.data_dir)
    except ValueError as error:
        raise ConfigError(f"DATA_DIR: {error}") from error
    except OSError as error:
        raise ConfigError(
            f"DATA_DIR is {config.data_dir}, which can't be the service's folder ({error.strerror}): give one that its "
            "account may make or owns, such as /var/lib/checkout"
        ) from error


def _find_screen(config: Config) -> Screen:
    try:
        return find_screen(config.screening)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _connect_ledgers(config: Config, database: Database, clock: Clock) -> Mapping[EnvMode, Ledger]:
    """Return the real chains of each environment; the test environment has simulated ones where it has no others."""
    real = {
        env_mode: connect_ledger(urls, env_mode, clock) for env_mode in EnvMode if (urls := config.rpc_urls(env_mode))
    }
    return {EnvMode.TEST: SimulatedLedger(database, clock), **real}


def replace_database(resources: Resources, database: Database) -> Resources:
    """Return the same resources on another database; the simulated chains move with it."""
    ledgers = {
        env_mode: SimulatedLedger(database, resources.clock) if ledger.is_simulated else ledger
        for env_mode, ledger in resources.ledgers.items()
    }
    return replace(resources, database=database, ledgers=ledgers)


def attach_resources(app: Flask, resources: Resources) -> None:
    """Make `resources` reachable from requests of `app`."""
    app.extensions[EXTENSION] = resources


def get_resources() -> Resources:
    """Return the resources of the request that is being served."""
    own = g.get(OWN)
    return own if isinstance(own, Resources) else get_resources_of(current_app)


@contextmanager
def serve_with(resources: Resources) -> Iterator[None]:
    """Let the request that is being served have resources of its own."""
    setattr(g, OWN, resources)
    try:
        yield
    finally:
        g.pop(OWN)


def get_resources_of(app: Flask) -> Resources:
    """Return the resources of an application."""
    resources = app.extensions[EXTENSION]
    if not isinstance(resources, Resources):
        raise TypeError("the application was not built by create_app")
    return resources
