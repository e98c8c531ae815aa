"""Settings that are addresses, as operators write them."""

from __future__ import annotations

from ipaddress import ip_network
from urllib.parse import urlsplit

REDIS_SCHEMES = ("redis://", "rediss://", "redis+unix://")
"""What both the rate limits and the client of Redis understand."""


def name_driver(url: str) -> str:
    """Name the installed PostgreSQL driver in a plain `postgres://` or `postgresql://` address."""
    scheme, _, rest = url.partition("://")
    if scheme in {"postgres", "postgresql"}:
        return f"postgresql+psycopg://{rest}"
    if scheme in {"sqlite", "postgresql+psycopg"}:
        return url
    raise ValueError("DATABASE_URL must start with sqlite:/// or postgresql://")


def check_redis_url(url: str) -> str | None:
    """Return the address of Redis, or None where there is none."""
    if url and not url.startswith(REDIS_SCHEMES):
        raise ValueError(f"REDIS_URL must start with {', '.join(REDIS_SCHEMES[:-1])} or {REDIS_SCHEMES[-1]}")
    return url or None


def check_proxies(text: str) -> str:
    """Refuse what is neither an address nor a network: nobody is that proxy, and all customers would count as one."""
    for each in filter(None, map(str.strip, text.split(","))):
        try:
            ip_network(each, strict=False) if each != "*" else None
        except ValueError as error:
            raise ValueError(
                f"FORWARDED_ALLOW_IPS: {each!r} is no address or network; write 10.0.0.5,10.1.0.0/16"
            ) from error
    return text


def check_base_url(url: str) -> str:
    """Return the service's own address, without a slash at its end; customers see all of it."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("BASE_URL must start with http:// or https://")
    try:
        parts = urlsplit(url)
        is_plain = bool(parts.hostname and parts.port != 0) and not (parts.query or parts.fragment)
    except ValueError:
        is_plain = False
    if not is_plain or "@" in parts.netloc or url != "".join(url.split()):
        raise ValueError("BASE_URL must be a plain address such as https://pay.example: no user, spaces, ? or #")
    return url.rstrip("/")
