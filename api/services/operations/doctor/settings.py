"""Whether settings fit each other, and whether files are the service's own. Opens nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import make_url

from api.config import Config
from api.domain.env import EnvMode
from api.doubtful_settings import CHAIN_REMEDY, REMEDY, list_misspelt, list_unknown_chains
from api.secrets.keys import FILE_NAME
from api.services.operations.doctor.findings import Finding, blame, praise, warn
from api.storage.private_files import is_open_to_others

LEAST_FREE = 200 * 2**20
"""Bytes on the disk of the data: a database that can't grow refuses payments."""
TITLE, FILES = "settings", "files"
SHORTEST_TOKEN = 16


def check_settings(config: Config) -> Iterator[Finding]:
    """Look for settings that contradict each other, or promise less than they seem to."""
    found = [*_check_names(config), *_check_money(config), *_check_exposure(config)]
    yield from found or [praise(TITLE, "fit each other")]


def check_files(config: Config) -> Iterator[Finding]:
    """Look at rights, owners and room; before anything is opened, which takes the rights of others away."""
    found = [
        blame(
            FILES,
            f"others may use {path} (mode {stat.S_IMODE(path.stat().st_mode):04o})",
            f"chmod {'700' if path.is_dir() else '600'} {path}; then `checkout secrets rotate`, and "
            "`checkout keys rotate` if others can have changed it",
        )
        for path in list_private(config)
        if path.exists() and is_open_to_others(path)
    ]
    strange = [path for path in list_private(config) if path.exists() and path.stat().st_uid != os.geteuid()]
    found += [
        blame(FILES, f"{path} belongs to another account", f"run as the service's account, or chown {path}")
        for path in strange
    ]
    folder = config.data_dir if config.data_dir.is_dir() else config.data_dir.parent
    if folder.is_dir() and shutil.disk_usage(folder).free < LEAST_FREE:
        megabytes = shutil.disk_usage(folder).free // 2**20
        found.append(blame(FILES, f"{megabytes} MB are free on the disk of {folder}", "make room"))
    yield from found or [praise(FILES, f"what is in {config.data_dir} is the service's own")]


def find_database_file(config: Config) -> Path | None:
    """Return SQLite's file; None for a database server, or for a database in memory."""
    url = make_url(config.database_url)
    is_file = url.get_backend_name() == "sqlite" and url.database and not url.database.startswith(("file:", ":"))
    return Path(url.database) if is_file and url.database else None


def list_private(config: Config) -> list[Path]:
    """Return the files and folders that nobody else may use, whether or not they are there."""
    paths, database = [config.data_dir, config.data_dir / FILE_NAME], find_database_file(config)
    if database is not None:
        paths += [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-shm")]
    return paths


def _check_names(config: Config) -> Iterator[Finding]:
    """Look for names that are nearly a setting's, and for numbers that are no chain's."""
    for name, meant in list_misspelt():
        yield warn(TITLE, f"{name} is no setting, so nobody reads it", REMEDY.format(meant))
    for name, chain_id in list_unknown_chains(config):
        yield warn(TITLE, f"{name} has chain {chain_id}, which nobody describes: no route leads there", CHAIN_REMEDY)


def _check_money(config: Config) -> Iterator[Finding]:
    is_live = bool(config.rpc_urls(EnvMode.LIVE))
    if is_live and not config.market.adapters and config.market_file is None:
        yield blame(
            TITLE,
            "live orders are priced on the sandbox, whose prices are invented",
            "set ADAPTERS, as docs/live-rates.md says",
        )
    if is_live and config.market_file is not None:
        yield warn(TITLE, "live orders are priced on MARKET_FILE, which nobody refreshes", "set ADAPTERS in its place")
    if is_live and not config.base_url.startswith("https://"):
        yield blame(
            TITLE, "BASE_URL is plain http: customers' payment pages can be changed on the way", "give an https URL"
        )
    if is_live and config.allow_local_webhooks:
        yield warn(
            TITLE,
            "ALLOW_LOCAL_WEBHOOKS lets test webhooks reach this machine's network",
            "unset it where vendors are strangers",
        )
    for chain_id, urls in config.rpc_urls(EnvMode.LIVE).items():
        if len(urls) < 2:
            yield warn(
                TITLE,
                f"chain {chain_id} has one endpoint, which nobody contradicts and nobody stands in for",
                "give it a second one of another operator in RPC_URLS, with a comma between",
            )


def _check_exposure(config: Config) -> Iterator[Finding]:
    if config.web_workers > 1 and config.market.adapters and not config.redis_url:
        yield warn(
            TITLE,
            f"each of {config.web_workers} HTTP processes reads all sources of rates by itself",
            "set REDIS_URL, or leave WEB_WORKERS out",
        )
    if config.metrics_token and len(config.metrics_token) < SHORTEST_TOKEN:
        yield warn(TITLE, "METRICS_TOKEN is short enough to be guessed", "set one of `openssl rand -hex 16`")
    if config.rpc_urls(EnvMode.LIVE) and not config.metrics_token:
        yield warn(TITLE, "/metrics is closed, so nobody is woken when payments stop", "set METRICS_TOKEN")
    is_behind_proxy = _is_loopback(config.host) and not _is_loopback(urlsplit(config.base_url).hostname or "")
    if is_behind_proxy and not config.forwarded_allow_ips:
        yield warn(
            TITLE,
            "behind a proxy all customers count as one address, the proxy's",
            "set FORWARDED_ALLOW_IPS to the proxy's address",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
