"""Settings of one process, read once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from adapters.feed.plan import Plan
from api.address_settings import check_base_url, check_host, check_proxies, check_redis_url, name_driver
from api.domain.confirmations import Confirmations
from api.domain.env import EnvMode
from api.market_settings import read_endpoints, read_plan
from api.secrets.keys import SecretKeyFault, parse_keys
from api.setting_values import SettingsReader

DOLLARS_A_MINUTE = 0.25
"""Fifteen dollars an hour: nobody waits for half an hour to save a dollar, but to save ten."""
MOST_WORKERS = 4
"""HTTP processes that there are without a word from the operator."""
MOST_PROCESSES, MOST_THREADS = 256, 1_000
"""More of them are a slip of the pen, which takes a machine down."""
MOST_DOLLARS = 10**15
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class ConfigError(ValueError):
    """A setting is missing or malformed; the message names the variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the operator decided about this installation.

    Each field is the environment variable of the same name in capitals, which `api.settings` describes.

    Parameters
    ----------
    market : Plan
        What `ADAPTERS` and the settings beside it say. Its `rpc_urls` are also the chains on which live orders are
        paid, with or without adapters.
    confirmations : Confirmations
        What `CONFIRMATIONS` and `DOUBLE_CHECK_ABOVE` say.
    """

    data_dir: Path
    database_url: str = field(repr=False)
    database_pooled: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    base_url: str = "http://127.0.0.1:8000"
    redis_url: str | None = field(default=None, repr=False)
    keep_events_days: int = 400
    allow_local_webhooks: bool = False
    market_file: Path | None = None
    market: Plan = field(default_factory=Plan)
    chains_file: Path | None = None
    test_rpc_urls: Mapping[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    web_threads: int = 16
    web_workers: int = 1
    rate_limit_key: int = 300
    rate_limit_routing: int = 100
    rate_limit_keyless: int = 50
    rate_limit_page: int = 1500
    forwarded_allow_ips: str = ""
    confirmations: Confirmations = field(default_factory=Confirmations)
    value_of_time: float = DOLLARS_A_MINUTE
    screening: str | None = None
    secret_keys: tuple[str, ...] = field(default=(), repr=False)
    metrics_token: str | None = field(default=None, repr=False)
    log_level: str = "INFO"

    def rpc_urls(self, env_mode: EnvMode) -> Mapping[int, tuple[str, ...]]:
        """Return the endpoints of the real chains on which an environment's orders are paid, by chain id."""
        return self.market.rpc_urls if env_mode == EnvMode.LIVE else self.test_rpc_urls

    @classmethod
    def from_env(cls, defaults: Mapping[str, str] | None = None) -> Self:
        """Read the environment.

        Parameters
        ----------
        defaults : mapping, optional
            Values for variables that the environment does not set.

        Raises
        ------
        ConfigError
            When a variable has no sensible value; the message names it.
        """
        try:
            return cls._read(SettingsReader(defaults or {}))
        except ConfigError:
            raise
        except ValueError as error:
            raise ConfigError(str(error)) from error

    @classmethod
    def _read(cls, settings: SettingsReader) -> Self:
        port = settings.read_integer("PORT", most=65_535)
        market = _read_market(settings)
        market_file = settings.read_path("MARKET_FILE")
        if market_file and market.adapters:
            raise ConfigError("MARKET_FILE and ADAPTERS: set one of the two")
        data_dir = settings.read_path("DATA_DIR") or Path()
        return cls(
            data_dir=data_dir,
            database_url=name_driver(settings.read("DATABASE_URL") or f"sqlite:///{data_dir / 'checkout.db'}"),
            database_pooled=settings.read_switch("DATABASE_POOLED"),
            host=check_host(settings.read("HOST")),
            port=port,
            base_url=check_base_url(settings.read("BASE_URL") or f"http://127.0.0.1:{port}"),
            redis_url=check_redis_url(settings.read("REDIS_URL")),
            keep_events_days=settings.read_integer("KEEP_EVENTS_DAYS", least=30, most=36_500),
            allow_local_webhooks=settings.read_switch("ALLOW_LOCAL_WEBHOOKS"),
            market_file=market_file,
            market=market,
            chains_file=settings.read_path("CHAINS_FILE"),
            test_rpc_urls=read_endpoints("TEST_RPC_URLS", settings.read("TEST_RPC_URLS")),
            web_threads=settings.read_integer("WEB_THREADS", most=MOST_THREADS),
            web_workers=_read_web_workers(
                settings, shares_rates=bool(settings.read("REDIS_URL") or not market.adapters)
            ),
            rate_limit_key=settings.read_integer("RATE_LIMIT_KEY"),
            rate_limit_routing=settings.read_integer("RATE_LIMIT_ROUTING"),
            rate_limit_keyless=settings.read_integer("RATE_LIMIT_KEYLESS"),
            rate_limit_page=settings.read_integer("RATE_LIMIT_PAGE"),
            forwarded_allow_ips=check_proxies(settings.read("FORWARDED_ALLOW_IPS")),
            confirmations=_read_confirmations(settings),
            value_of_time=settings.read_number("VALUE_OF_TIME", most=1_000),
            screening=settings.read("SCREENING") or None,
            secret_keys=_read_secret_keys(settings.read("SECRET_KEYS")),
            metrics_token=_read_metrics_token(settings.read("METRICS_TOKEN")),
            log_level=settings.read_among("LOG_LEVEL", LOG_LEVELS),
        )


def _read_web_workers(settings: SettingsReader, *, shares_rates: bool) -> int:
    """Return how many HTTP processes there are; by default one where each would read all sources of rates by itself."""
    if settings.read("WEB_WORKERS"):
        return settings.read_integer("WEB_WORKERS", most=MOST_PROCESSES, example="2")
    return min(MOST_WORKERS, count_processors()) if shares_rates else 1


def count_processors() -> int:
    """Count the processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)  # not every system has it
    return len(usable(0)) if usable else os.cpu_count() or 1


def _read_confirmations(settings: SettingsReader) -> Confirmations:
    text, doubted_above = (
        settings.read("CONFIRMATIONS"),
        settings.read_integer("DOUBLE_CHECK_ABOVE", least=0, most=MOST_DOLLARS),
    )
    try:
        return replace(Confirmations.parse(text) if text else Confirmations(), doubted_above=doubted_above)
    except ValueError as error:
        raise ConfigError(f"CONFIRMATIONS: {error}") from error


def _read_metrics_token(text: str) -> str | None:
    if not text.isascii() or any(map(str.isspace, text)):
        raise ValueError(
            f"METRICS_TOKEN is a text of {len(text)} characters, but no header can hold it: it must have no spaces and "
            "ASCII characters alone, such as `openssl rand -hex 16` makes"
        )
    return text or None


def _read_secret_keys(text: str) -> tuple[str, ...]:
    texts = tuple(part for part in map(str.strip, text.split(",")) if part)
    try:
        if texts:
            parse_keys(texts, "SECRET_KEYS")
    except SecretKeyFault as error:
        raise ConfigError(str(error)) from None
    return texts


def _read_market(settings: SettingsReader) -> Plan:
    names = ("ADAPTERS", "RPC_URLS", "ADAPTER_OPTIONS", "SOURCE_INTERVALS", "SOURCE_MAX_AGES")
    return read_plan({name: settings.read(name) for name in names})
