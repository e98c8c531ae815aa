"""A URL taken apart so that every reader of it agrees on the host."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

import idna

from api.net.addresses import IpAddress, Reach

DEFAULT_PORTS = {"http": 80, "https": 443}
LOCAL_NAMES = ("localhost", "localdomain")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*", re.ASCII)
_NAME = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")


class TargetRefused(ValueError):
    """The URL, or an address behind it, is not one this service connects to; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request goes.

    Parameters
    ----------
    host : str
        ASCII host name in lower case, or an address without brackets.
    address : IPv4Address, IPv6Address or None
        The host if it is an address.
    path : str
        Path and query, percent-encoded.
    """

    scheme: str
    host: str
    address: IpAddress | None
    port: int
    path: str

    @property
    def url(self) -> str:
        """The URL in the form that is requested."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def parse_target(url: str, reach: Reach) -> Target:
    """Take a URL apart and refuse it if it says openly that it goes too far.

    Raises
    ------
    TargetRefused
        If it is malformed, or names a port, a local name or an address outside `reach`.
    """
    try:
        parts = urlsplit(url)
        port = parts.port if parts.port is not None else DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise TargetRefused(f"Invalid URL: {error}") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise TargetRefused("Expected a URL that starts with https:// or http:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise TargetRefused("A URL must not contain a user name or password")
    if not reach.allows_port(port):
        raise TargetRefused(f"Port {port} is not allowed; use 443, 8443, 80 or 8080")
    host, address = _host(parts.hostname, bracketed="[" in parts.netloc)
    if address is not None:
        require_reachable(address, reach)
    elif not reach.local and host.rpartition(".")[2] in LOCAL_NAMES:
        raise TargetRefused(f"{host} is a local name; webhooks go to public addresses")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/?%:@!$&()*+,;=~-._')}" if parts.query else ""
    return Target(scheme=parts.scheme, host=host, address=address, port=port, path=path + query)


def require_reachable(address: IpAddress, reach: Reach) -> None:
    """Refuse an address outside `reach`.

    Raises
    ------
    TargetRefused
        If it is.
    """
    if not reach.allows(address):
        raise TargetRefused(f"{address} is not a public address; webhooks go to public addresses")


def _host(text: str, *, bracketed: bool) -> tuple[str, IpAddress | None]:
    if bracketed:
        try:
            address = IPv6Address(text)
        except AddressValueError:
            raise TargetRefused("The host is not a valid IPv6 address") from None
        if address.scope_id is not None:
            raise TargetRefused("An IPv6 address must not have a zone")
        return str(address), address
    name = _ascii(text).removesuffix(".")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        # Other programs read 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 as addresses: only one spelling is taken.
        try:
            return name, IPv4Address(name)
        except AddressValueError:
            raise TargetRefused("Write an IPv4 address as four decimal numbers, such as 198.51.100.7") from None
    if not _NAME.fullmatch(name):
        raise TargetRefused("The host name is not valid")
    return name, None


def _ascii(text: str) -> str:
    """Write a host name in ASCII, the way resolvers and certificates have it."""
    if text.isascii():
        return text.lower()
    try:
        return idna.encode(text, uts46=True, transitional=False).decode("ascii")
    except idna.IDNAError:
        raise TargetRefused("The host name is not a valid international name") from None
