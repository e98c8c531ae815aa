"""Across: lanes by its API, deposits with an exact output, and what the spoke pools' events say; in one `BRIDGE`.

May import `base`, `bridges.base`, `bridges.common`, `bridges.events`, `bridges.promise`, `bridges.service`, `chain`,
`http`, `routing_engine`, `rpc` and `transactions`. Begin with `adapter.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from adapters.bridges.across.adapter import AcrossAdapter
from adapters.bridges.across.events import find_readers
from adapters.bridges.across.payments import AcrossPayments
from adapters.bridges.across.swap_payments import make_swap_builders
from adapters.bridges.base import Bridge
from adapters.transactions.base import PaymentBuilder


def make_builders() -> Iterator[PaymentBuilder]:
    """Yield the builder of deposits, then those of deposits of what is swapped first."""
    yield AcrossPayments()
    yield from make_swap_builders()


BRIDGE = Bridge(adapter=AcrossAdapter, payments=make_builders, events=find_readers)
