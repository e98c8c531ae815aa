"""Who counts as one customer for the rate limits."""

from __future__ import annotations

import pytest

from api.counting.rate_limits import find_customer_network


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),  # as a socket of both families says it
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("unknown", "unknown"),
    ],
)
def test_addresses_are_counted_by_customer(address: str, network: str) -> None:
    assert find_customer_network(address) == network
