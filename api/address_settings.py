"""Settings that are addresses, as operators write them."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from api.setting_values import describe

REDIS_SCHEMES = ("redis://", "rediss://", "redis+unix://")
"""What both the rate limits and the client of Redis understand."""
HOST_FORM = (
    "but must be an address of this machine, without a port: 127.0.0.1 for a proxy on it, 0.0.0.0 for everybody in "
    "IPv4, ::1 or :: in IPv6"
)
_HOST_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9._-]{1,253}", re.ASCII)


def check_host(text: str) -> str:
    """Return an address or a name to listen at. Whether this machine has it, is seen when the port is opened."""
    try:
        ip_address(text)
    except ValueError:
        if not _HOST_NAME.fullmatch(text):
            raise ValueError(f"HOST is {describe(text)}, {HOST_FORM}") from None
    return text


def name_driver(url: str) -> str:
    """Check the database's address, and name the installed driver in a plain `postgres://` or `postgresql://` one."""
    scheme, _, rest = url.partition("://")
    if scheme not in {"postgres", "postgresql", "sqlite", "postgresql+psycopg"}:
        raise ValueError(
            f"DATABASE_URL is a text of {len(url)} characters, but must start with postgresql:// or sqlite:///, such "
            "as postgresql://user:password@host/name or sqlite:////path/file.db"
        )
    named = f"postgresql+psycopg://{rest}" if scheme in {"postgres", "postgresql"} else url
    try:
        place = make_url(named)
    except (ArgumentError, ValueError):  # their texts may quote a password
        message = "DATABASE_URL is no address of a database: a port is a number, and a password is percent-encoded"
        raise ValueError(f"{message}, as in postgresql://user:p%40ss@host:5432/name") from None
    if scheme == "sqlite" and place.database in {None, "", ":memory:"}:
        raise ValueError(
            "DATABASE_URL names no file, and what is in memory is gone with its process: write "
            "sqlite:////path/file.db, or leave it out for checkout.db in DATA_DIR"
        )
    return named


def check_redis_url(url: str) -> str | None:
    """Return the address of Redis, or None where there is none."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_whole = parts.port != 0 and bool(parts.scheme == "redis+unix" or re.fullmatch(r"/?[0-9]*", parts.path))
    except ValueError:
        is_whole = False
    if not url.startswith(REDIS_SCHEMES) or not is_whole or any(map(str.isspace, url)):
        raise ValueError(
            f"REDIS_URL is a text of {len(url)} characters, but must be an address that starts with "
            f"{', '.join(REDIS_SCHEMES[:-1])} or {REDIS_SCHEMES[-1]}, such as redis://127.0.0.1:6379/0"
        )
    return url


def check_proxies(text: str) -> str:
    """Refuse what is neither an address nor a network: nobody is that proxy, and all customers would count as one."""
    for each in filter(None, map(str.strip, text.split(","))):
        try:
            ip_network(each, strict=False) if each != "*" else None
        except ValueError as error:
            raise ValueError(
                f"FORWARDED_ALLOW_IPS: {describe(each)} is no address or network; write them with commas between, such "
                "as 127.0.0.1 or 10.0.0.5,10.1.0.0/16"
            ) from error
    return text


def check_base_url(url: str) -> str:
    """Return the service's own address, without a slash at its end; customers see all of it."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(
            f"BASE_URL is {describe(url)}, but must start with http:// or https://, such as https://pay.example"
        )
    try:
        parts = urlsplit(url)
        is_plain = bool(parts.hostname and parts.port != 0) and not (parts.query or parts.fragment)
    except ValueError:
        is_plain = False
    if not is_plain or "@" in parts.netloc or url != "".join(url.split()):
        raise ValueError(
            f"BASE_URL is {describe(url)}, but must be a plain address such as https://pay.example: no user, spaces, "
            "? or #, and a port is a number"
        )
    return url.rstrip("/")
