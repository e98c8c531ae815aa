"""Settings of one process, read once from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from environs import Env, EnvError
from marshmallow import validate

from adapters.feed.plan import Plan
from api.domain.confirmations import DOUBTED_ABOVE, Confirmations
from api.domain.env import EnvMode
from api.market_settings import read_endpoints, read_plan
from api.secrets.keys import SecretKeyFault, parse_keys

DOLLARS_A_MINUTE = 0.25
"""Fifteen dollars an hour: nobody waits for half an hour to save a dollar, but to save ten."""
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class ConfigError(ValueError):
    """A setting is missing or malformed; the message names the variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the operator decided about this installation.

    Each field is the environment variable of the same name in capitals.

    Parameters
    ----------
    data_dir : Path
        Folder for the SQLite file.
    database_url : str
        SQLAlchemy URL; a SQLite file in `data_dir` by default.
    base_url : str
        Public address of the service, without a slash at its end; payment URLs start with it.
    redis_url : str or None
        Where the processes share their rate limits. Without it each process counts for itself.
    allow_local_webhooks : bool
        Whether test webhooks may go to loopback and private addresses.
    market_file : Path or None
        Market to route on; the built-in sandbox market without it.
    market : Plan
        Adapters that give a live market instead, and what they need. Its `rpc_urls` are also the chains on which live
        orders are paid, with or without adapters.
    chains_file : Path or None
        Further chains of a known gas model, as `routing_engine.reference.chain_records` reads them; none without it.
    test_rpc_urls : mapping of int to tuple of str
        Chains on which test orders are paid, by the same rules; without any they are paid on the simulated ledger.
    web_threads, web_workers : int
        Threads for each HTTP process, and HTTP processes.
    rate_limit_key, rate_limit_routing, rate_limit_keyless : int
        Requests a minute: for each API key, for each caller on routes and quotes, for each address without a key.
    rate_limit_page : int
        Requests a minute to payment pages and their files for each address, behind which there may be a whole office;
        a fifth of it for each order, and a fifth for looking for ways to pay.
    forwarded_allow_ips : str
        Proxies, separated by commas, whose `X-Forwarded-For` is believed. Empty: none.
    confirmations : Confirmations
        Blocks that a payment waits for, by its dollars and its chain, such as ``*:100=1,1000=6;1:100=2,1000=6``; and
        the dollars above which two things must speak for it (``DOUBLE_CHECK_ABOVE``).
    value_of_time : float
        Dollars that a minute of waiting is worth to a customer, when the page chooses between ways to pay.
    screening : str or None
        Installed check of payers' and merchants' addresses; see `api.services.chains.screening`. Nobody is checked
        without it.
    secret_keys : tuple of str
        Keys that encrypt the secrets in the database, each 32 bytes in base64; the first encrypts. Without any they are
        in ``secret.key`` in `data_dir`.
    metrics_token : str or None
        Bearer token that `/metrics` asks for; open without it.
    """

    data_dir: Path
    database_url: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 8000
    base_url: str = "http://127.0.0.1:8000"
    redis_url: str | None = field(default=None, repr=False)
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
            return cls._read(Env(), defaults or {})
        except EnvError as error:
            raise ConfigError(str(error)) from error

    @classmethod
    def _read(cls, env: Env, defaults: Mapping[str, str]) -> Self:
        positive = validate.Range(min=1, max=1_000_000)
        data_dir = Path(env.str("DATA_DIR", defaults.get("DATA_DIR", ".data"))).expanduser().absolute()
        port = env.int("PORT", int(defaults.get("PORT", "8000")), validate=validate.Range(min=1, max=65_535))
        market_file, chains_file = (env.str(name, None) or None for name in ("MARKET_FILE", "CHAINS_FILE"))
        market = _read_market(env)
        if market_file and market.adapters:
            raise ConfigError("MARKET_FILE and ADAPTERS: set one of the two")
        return cls(
            data_dir=data_dir,
            database_url=_name_driver(env.str("DATABASE_URL", None) or f"sqlite:///{data_dir / 'checkout.db'}"),
            host=env.str("HOST", "127.0.0.1"),
            port=port,
            base_url=_check_base_url(env.str("BASE_URL", None) or f"http://127.0.0.1:{port}"),
            redis_url=env.str("REDIS_URL", None) or None,
            allow_local_webhooks=env.bool("ALLOW_LOCAL_WEBHOOKS", False),
            market_file=Path(market_file).expanduser().absolute() if market_file else None,
            market=market,
            chains_file=Path(chains_file).expanduser().absolute() if chains_file else None,
            test_rpc_urls=_read_endpoints("TEST_RPC_URLS", env.str("TEST_RPC_URLS", "")),
            web_threads=env.int("WEB_THREADS", 16, validate=positive),
            web_workers=env.int("WEB_WORKERS", 1, validate=positive),
            rate_limit_key=env.int("RATE_LIMIT_KEY", 300, validate=positive),
            rate_limit_routing=env.int("RATE_LIMIT_ROUTING", 100, validate=positive),
            rate_limit_keyless=env.int("RATE_LIMIT_KEYLESS", 50, validate=positive),
            rate_limit_page=env.int("RATE_LIMIT_PAGE", 1500, validate=positive),
            forwarded_allow_ips=env.str("FORWARDED_ALLOW_IPS", ""),
            confirmations=replace(
                _read_confirmations(env.str("CONFIRMATIONS", None)),
                doubted_above=env.int("DOUBLE_CHECK_ABOVE", DOUBTED_ABOVE, validate=validate.Range(min=0)),
            ),
            value_of_time=env.float("VALUE_OF_TIME", DOLLARS_A_MINUTE, validate=validate.Range(min=0, max=1_000)),
            screening=env.str("SCREENING", None) or None,
            secret_keys=_read_secret_keys(env.str("SECRET_KEYS", "")),
            metrics_token=env.str("METRICS_TOKEN", None) or None,
            log_level=env.str("LOG_LEVEL", "INFO", validate=validate.OneOf(LOG_LEVELS)),
        )


def _name_driver(url: str) -> str:
    """Name the installed PostgreSQL driver in a plain `postgres://` or `postgresql://` address."""
    scheme, _, rest = url.partition("://")
    if scheme in {"postgres", "postgresql"}:
        return f"postgresql+psycopg://{rest}"
    if scheme in {"sqlite", "postgresql+psycopg"}:
        return url
    raise ConfigError("DATABASE_URL must start with sqlite:/// or postgresql://")


def _read_confirmations(text: str | None) -> Confirmations:
    try:
        return Confirmations.parse(text) if text else Confirmations()
    except ValueError as error:
        raise ConfigError(f"CONFIRMATIONS: {error}") from error


def _read_secret_keys(text: str) -> tuple[str, ...]:
    texts = tuple(part for part in map(str.strip, text.split(",")) if part)
    try:
        if texts:
            parse_keys(texts, "SECRET_KEYS")
    except SecretKeyFault as error:
        raise ConfigError(str(error)) from None
    return texts


def _read_market(env: Env) -> Plan:
    names = ("ADAPTERS", "RPC_URLS", "ADAPTER_OPTIONS", "SOURCE_INTERVALS", "SOURCE_MAX_AGES")
    try:
        return read_plan({name: env.str(name, "") for name in names})
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _read_endpoints(setting: str, text: str) -> Mapping[int, tuple[str, ...]]:
    try:
        return read_endpoints(setting, text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_base_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ConfigError("BASE_URL must start with http:// or https://")
    return url.rstrip("/")
