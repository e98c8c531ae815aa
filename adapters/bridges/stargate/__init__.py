"""Stargate v2: paths and firm quotes by its pools, sends by taxi, and what the pools' events say; in one `BRIDGE`.

May import `base`, `bridges.base`, `bridges.common`, `bridges.events`, `bridges.promise`, `chain`, `routing_engine`,
`rpc` and `transactions`. Begin with `protocol.py`.
"""

from __future__ import annotations

from adapters.bridges.base import Bridge
from adapters.bridges.stargate.events import find_readers
from adapters.bridges.stargate.firm_quotes import StargateQuotes
from adapters.bridges.stargate.payments import StargatePayments
from adapters.bridges.stargate.protocol import find_protocols

BRIDGE = Bridge(
    protocol=find_protocols, payments=lambda: (StargatePayments(),), events=find_readers, firm_quotes=StargateQuotes
)
