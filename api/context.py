"""What every part of a process shares: settings, clock, database and market."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import Flask, current_app

from api.config import Config, ConfigError
from api.domain.clock import Clock, SystemClock
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.net.resolver import Resolver, SystemResolver
from api.services.chains.chain_access import Worlds, worlds_for
from api.services.chains.screening import Screen, nobody, screen_named
from api.services.ledger.chain_ledger import connect
from api.services.market.market import MarketService
from api.services.market.supply import supply_for
from api.storage.db import Database
from api.storage.private_files import make_private_folder
from routing_engine.errors import BadChainsFile
from routing_engine.reference.chains import add_chains

EXTENSION = "checkout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The outside world of the services, made once for each process.

    Parameters
    ----------
    worlds : mapping of EnvMode to PaymentWorld
        The real chains that payers' transactions are built for; none for an environment with simulated chains.
    ledgers : mapping of EnvMode to Ledger
        The real chains that are watched for payments, likewise.
    screen : Screen
        Says with which addresses nothing must be exchanged.
    """

    config: Config
    clock: Clock
    database: Database
    resolver: Resolver = field(default_factory=SystemResolver)
    market: MarketService
    worlds: Worlds = field(default_factory=dict)
    ledgers: Mapping[EnvMode, Ledger] = field(default_factory=dict)
    screen: Screen = nobody


def build_context(config: Config, *, clock: Clock | None = None) -> Context:
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
    return Context(
        config=config,
        clock=clock,
        database=Database(config.database_url),
        market=MarketService(supply_for(config, clock), clock),
        worlds=worlds_for(config, clock),
        ledgers=_ledgers(config, clock),
        screen=_screen(config),
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
        raise ConfigError(f"DATA_DIR: {error}; the service's account has to own it") from error


def _screen(config: Config) -> Screen:
    try:
        return screen_named(config.screening)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _ledgers(config: Config, clock: Clock) -> Mapping[EnvMode, Ledger]:
    urls = {EnvMode.TEST: config.test_rpc_urls, EnvMode.LIVE: config.market.rpc_urls}
    return {env_mode: connect(each, env_mode, clock) for env_mode, each in urls.items() if each}


def attach(app: Flask, context: Context) -> None:
    """Make `context` reachable from requests of `app`."""
    app.extensions[EXTENSION] = context


def current() -> Context:
    """Context of the request being served."""
    return of(current_app)


def of(app: Flask) -> Context:
    """Context of an application."""
    context = app.extensions[EXTENSION]
    if not isinstance(context, Context):
        raise TypeError("the application was not built by create_app")
    return context
