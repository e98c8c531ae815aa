"""One transaction looked up by its hash, and what a bridge delivered for it; each asks one chain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import structlog

from adapters.base import AdapterError, BadPayload
from adapters.bridges.events import Delivery, Deposit, EventReader, find_event_readers
from adapters.rpc.abi import read_quantity
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.heads import Block
from adapters.transactions.reverts import read_revert
from api.domain.confirmations import count_finality_blocks
from api.services.ledger.rpc_records import (
    ChainTransaction,
    Receipt,
    read_receipt,
    read_searches,
    read_transaction,
    to_block,
)
from api.services.ledger.transfers import Mined, Unreadable, read_bridge_events
from routing_engine.reference.chains import CHAINS

WINDOW_BLOCKS, MOST_WINDOWS = 2_000, 5
"""How far a delivery is searched for in one request of logs, and in how many."""
CLOCKS_APART_S = 120
"""How much earlier than its deposit a delivery may seem to be, by its own chain's clock."""
STEPS_BACK = 6
MOST_DEPOSITS = 5
"""Of one transaction that are followed; what anybody can put into one has no end."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTransaction:
    """A transaction as its chain tells of it.

    Parameters
    ----------
    is_known : bool
        Whether the chain knows it at all.
    mined_at, block_number : datetime and int, or None
        Its block; None while it has none.
    confirmations : int
        Blocks from its own to the newest, both counted.
    is_final : bool
        Whether nothing can change its block any more.
    is_successful : bool
        Whether it did not revert.
    said : str
        What the contract said as it reverted.
    deposits : tuple of Deposit
        What it put into bridges.
    is_read : bool
        Whether it was possible to say what it put into bridges.
    """

    is_known: bool = True
    mined_at: datetime | None = None
    block_number: int | None = None
    confirmations: int = 0
    is_final: bool = False
    is_successful: bool = False
    said: str = ""
    deposits: tuple[Deposit, ...] = ()
    is_read: bool = True


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


def look_up(rpc: RpcPool, tx_hash: str) -> SeenTransaction | None:
    """Return what a chain tells of a transaction, or None where it does not answer or contradicts itself."""
    try:
        head = rpc.read_head()
        receipt, record = rpc.ask(_ask_for(tx_hash), lambda told: (told[0], told[1]))
        if not isinstance(record, dict):
            return SeenTransaction(is_known=False)
        transaction = read_transaction(record)
        if transaction.tx_hash != tx_hash:
            raise BadPayload(f"{transaction.tx_hash} was answered for {tx_hash}")
        if not isinstance(receipt, dict):
            return SeenTransaction()
        return _describe_mined(rpc, head, transaction, read_receipt(receipt, tx_hash), _read_number(receipt))
    except AdapterError as fault:
        log.info("transaction_unknown", chain_id=rpc.chain_id, tx_hash=tx_hash, reason=str(fault))
        return None


def find_delivery(rpc: RpcPool, deposit: Deposit, since: datetime) -> Arrival | None:
    """Return what a bridge delivered for a deposit, or None where the chain does not answer.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain that it is to arrive on.
    since : datetime
        When the deposit was mined.
    """
    readers = [each for each in _find_readers(rpc.chain_id) if deposit.delivery_topics[0] in each.topics]
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


def _ask_for(tx_hash: str) -> list[Question]:
    return [("eth_getTransactionReceipt", [tx_hash]), ("eth_getTransactionByHash", [tx_hash])]


def _read_number(receipt: dict[str, object]) -> int:
    return read_quantity(receipt, "blockNumber")


def _describe_mined(
    rpc: RpcPool, head: Block, transaction: ChainTransaction, receipt: Receipt, number: int
) -> SeenTransaction | None:
    block = rpc.read_block(number)
    if block is None or block.hash != receipt.block_hash or number > head.number:
        return None  # it has just been mined, or moved while it was read
    final = head.number - count_finality_blocks(rpc.chain_id) if head.final is None else head.final
    said = "" if receipt.is_successful else _ask_why(rpc, transaction, number)
    mined = Mined(chain_id=rpc.chain_id, block=to_block(block), transaction=transaction, receipt=receipt)
    deposits = _read_deposits(mined) if receipt.is_successful else ()
    return SeenTransaction(
        mined_at=mined.block.mined_at,
        block_number=number,
        confirmations=head.number - number + 1,
        is_final=number <= final,
        is_successful=receipt.is_successful,
        said=said,
        deposits=deposits or (),
        is_read=deposits is not None,
    )


def _ask_why(rpc: RpcPool, transaction: ChainTransaction, number: int) -> str:
    """Return what the contract says if the call is made once more, on the block before; empty if it says nothing."""
    call = {
        "from": transaction.sender,
        "to": transaction.recipient,
        "value": hex(transaction.value),
        "data": "0x" + transaction.calldata.hex(),
    }
    try:
        answer = rpc.ask([("eth_call", [call, hex(number - 1)])], lambda told: told[0])
    except AdapterError:
        return ""
    return read_revert(answer.data) if isinstance(answer, RpcRefused) else ""


def _read_deposits(mined: Mined) -> tuple[Deposit, ...] | None:
    """Return what a transaction put into bridges; None where a bridge's code fails at one of its events."""
    readers = _find_readers(mined.chain_id)
    found: list[Deposit] = []
    try:
        for place, event in read_bridge_events(mined, readers):
            if isinstance(event, Deposit) and len(found) < MOST_DEPOSITS:
                found.append(_complete(mined, mined.receipt.logs[place].topics[0], event, readers))
    except Unreadable as fault:
        log.warning("bridge_event_not_read", chain_id=mined.chain_id, bridge=fault.bridge, reason=str(fault))
        return None
    return tuple(found)


def _complete(mined: Mined, topic: str, deposit: Deposit, readers: Sequence[EventReader]) -> Deposit:
    """Return a deposit with what only its call says; that of a contract in between is not looked for."""
    sent = mined.transaction
    if sent.recipient != deposit.contract:
        return deposit
    reader = next(each for each in readers if deposit.contract in each.contracts and topic in each.topics)
    return reader.complete(deposit, sent.calldata)


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

    def parse(told: list[Answer]) -> Arrival | None:
        for found in read_searches(told):
            for reader in readers:
                if found.log.address in reader.contracts and found.log.topics[:1] == deposit.delivery_topics[:1]:
                    event = reader.read(found.log)
                    if isinstance(event, Delivery) and event.bridge_id == deposit.bridge_id:
                        return Arrival(tx_hash=found.tx_hash, amount=event.amount, recipient=event.recipient)
        return None

    return rpc.ask([("eth_getLogs", [wanted])], parse)


@cache
def _find_readers(chain_id: int) -> tuple[EventReader, ...]:
    return find_event_readers(chain_id)
