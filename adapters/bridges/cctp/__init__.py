"""Circle's CCTP v2: lanes by its service, burns that it forwards, and what its contracts' events say; in one `BRIDGE`.

May import `base`, `bridges.base`, `bridges.common`, `bridges.events`, `bridges.promise`, `bridges.service`, `chain`,
`http`, `routing_engine`, `rpc` and `transactions`. Begin with `adapter.py`.
"""

from __future__ import annotations

from adapters.bridges.base import Bridge
from adapters.bridges.cctp.adapter import CctpAdapter
from adapters.bridges.cctp.events import find_readers
from adapters.bridges.cctp.payments import CctpPayments

BRIDGE = Bridge(adapter=CctpAdapter, payments=lambda: (CctpPayments(),), events=find_readers)
