"""What a bridge delivered for a deposit, searched for on the chain that it is to arrive on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import structlog

from adapters.base import AdapterError, BadPayload
from adapters.bridges.events import Delivery, Deposit, EventReader, find_event_readers
from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RpcPool
from api.services.ledger.rpc_records import read_searches
from routing_engine.reference.chains import CHAINS

WINDOW_BLOCKS, MOST_WINDOWS = 2_000, 5
"""How far a delivery is searched for in one request of logs, and in how many."""
CLOCKS_APART_S = 120
"""How much earlier than its deposit a delivery may seem to be, by its own chain's clock."""
STEPS_BACK = 6

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What was found of a delivery: its transaction, or how far it was searched for.

    Parameters
    ----------
    tx_hash, amount, recipient : str, int and str
        Of the delivery; an empty hash where none was found.
    is_complete : bool
        Whether everything up to the newest block was searched.
    now : int
        The newest block's time, seconds since 1970.
    """

    tx_hash: str = ""
    amount: int = 0
    recipient: str = ""
    is_complete: bool = True
    now: int = 0


def find_delivery(rpc: RpcPool, deposit: Deposit, since: datetime) -> Arrival | None:
    """Return what a bridge delivered for a deposit, or None where the chain does not answer.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain that it is to arrive on.
    since : datetime
        When the deposit was mined.
    """
    readers = [each for each in find_readers(rpc.chain_id) if deposit.delivery_topics[0] in each.topics]
    try:
        head = rpc.read_head()
        first = _find_block_before(rpc, head, math.floor(since.timestamp()) - CLOCKS_APART_S)
        for _ in range(MOST_WINDOWS):
            last = min(head.number, first + WINDOW_BLOCKS - 1)
            found = _search(rpc, readers, deposit, first, last)
            if found is not None:
                return found
            if last == head.number:
                return Arrival(now=head.timestamp)
            first = last + 1
        return Arrival(is_complete=False, now=head.timestamp)
    except AdapterError as fault:
        log.info("delivery_unknown", chain_id=rpc.chain_id, bridge_id=deposit.bridge_id, reason=str(fault))
        return None


@cache
def find_readers(chain_id: int) -> tuple[EventReader, ...]:
    """Return what reads the events of all bridges on a chain."""
    return find_event_readers(chain_id)


def _find_block_before(rpc: RpcPool, head: Block, moment: int) -> int:
    """Return the number of a block that is not younger than a moment, and not much older, in a few steps."""
    pace = CHAINS[rpc.chain_id].block_time_s
    number, timestamp = head.number, head.timestamp
    for _ in range(STEPS_BACK):
        if timestamp <= moment or number == 0:
            break
        number = max(0, number - math.ceil((timestamp - moment) / pace * 1.25) - 1)
        block = rpc.read_block(number)
        if block is None:
            raise BadPayload(f"there is no block {number}")
        timestamp = block.timestamp
        pace = max((head.timestamp - timestamp) / max(1, head.number - number), 0.01)
    return number


def _search(rpc: RpcPool, readers: Sequence[EventReader], deposit: Deposit, first: int, last: int) -> Arrival | None:
    contracts = sorted({address for reader in readers for address in reader.contracts})
    wanted = {
        "fromBlock": hex(first), "toBlock": hex(last), "address": contracts, "topics": list(deposit.delivery_topics),
    }  # fmt: skip
    for found in rpc.ask([("eth_getLogs", [wanted])], read_searches):
        for reader in readers:
            if found.log.address in reader.contracts and found.log.topics[:1] == deposit.delivery_topics[:1]:
                event = reader.read(found.log)
                if isinstance(event, Delivery) and event.bridge_id == deposit.bridge_id:
                    return Arrival(tx_hash=found.tx_hash, amount=event.amount, recipient=event.recipient)
    return None
