"""Which addresses and ports a stranger may make this service connect to."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from api.config import Config
from api.domain.env import EnvMode

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

PORTS = frozenset({80, 443, 8080, 8443})

# Lists of our own: `ipaddress.is_global` counts translated and site-local addresses as public on Python 3.11.
GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
DENIED: tuple[IpNetwork, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "168.63.129.16/32",  # looks public, and is Azure's own service within each of its machines
        "169.254.0.0/16",  # link-local, and the metadata services of clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
        "2001::/23",  # Teredo, ORCHID and other protocol assignments
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",  # documentation
    )
)
METADATA = tuple(ip_network(text) for text in ("fd00:ec2::254/128", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128"))
"""Of clouds, within networks that are somebody's own: Amazon's, Google's and Oracle's. Each is a key to the machine."""
LOCAL: tuple[IpNetwork, ...] = tuple(
    ip_network(text) for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a request may go.

    Parameters
    ----------
    local : bool
        Whether loopback and private addresses, and any port, are allowed too.
    """

    local: bool = False

    @classmethod
    def of(cls, config: Config, env_mode: EnvMode) -> Reach:
        """Allow local targets where the operator does, and for test events only."""
        return cls(local=config.allow_local_webhooks and env_mode == EnvMode.TEST)

    def allows(self, address: IpAddress) -> bool:
        """Whether a connection to `address` may be opened."""
        is_local = self.local and _within(address, LOCAL) and not _within(address, METADATA)
        return is_local or is_public(address)

    def allows_port(self, port: int) -> bool:
        """Whether a connection to `port` may be opened."""
        return self.local or port in PORTS


def is_public(address: IpAddress) -> bool:
    """Whether `address` belongs to a machine on the public internet.

    IPv6 addresses outside 2000::/3 are not: that leaves out those that stand for IPv4 ones (::ffff:0:0/96,
    64:ff9b::/96), unique local, link-local, site-local and multicast ones.
    """
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST_V6:
        return False
    return not _within(address, DENIED)


def _within(address: IpAddress, networks: tuple[IpNetwork, ...]) -> bool:
    return any(address in network for network in networks)
