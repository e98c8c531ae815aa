"""What whoever writes a market or an adapter can test it with; shipped for that.

May import `base`, `bridges`, `chain`, `routing_engine`, `rpc` and `transactions`. Begin with `adapters.py`.

A new kind of market::

    def test_my_market_conforms():
        check_market(MyMarket(...))

A new adapter, with answers of its service as they were recorded::

    def test_my_adapter_conforms():
        check_adapter(lambda client: MyAdapter(client, tokens), {"https://my.example/pools": [...]})
"""

from adapters.testing.adapters import check_adapter, check_parsing
from adapters.testing.markets import check_market
from adapters.testing.payments import check_events, check_payments
from adapters.testing.probe import NotConforming
from adapters.testing.protocols import check_protocol
from adapters.testing.replay import ReplayClient

__all__ = [
    "NotConforming",
    "ReplayClient",
    "check_adapter",
    "check_events",
    "check_market",
    "check_parsing",
    "check_payments",
    "check_protocol",
]
