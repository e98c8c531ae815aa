"""One transaction looked up by its hash, and what it put into bridges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from adapters.base import AdapterError, BadPayload
from adapters.bridges.events import Deposit, EventReader
from adapters.rpc.abi import read_quantity
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.reverts import read_revert
from api.services.execution.deliveries import find_readers
from api.services.ledger.rpc_records import (
    ChainTransaction,
    Receipt,
    read_receipt,
    read_transaction,
    to_block,
)
from api.services.ledger.transfers import Mined, Unreadable, read_bridge_events

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


def look_up(rpc: RpcPool, tx_hash: str) -> SeenTransaction | None:
    """Return what a chain tells of a transaction, or None where it does not answer or contradicts itself."""
    try:
        head = rpc.read_head()
        transaction, receipt, number = rpc.ask(_ask_for(tx_hash), partial(_read_both, tx_hash=tx_hash))
        if transaction is None or receipt is None:
            return SeenTransaction(is_known=transaction is not None)
        return _describe_mined(rpc, head, transaction, receipt, number)
    except AdapterError as fault:
        log.info("transaction_unknown", chain_id=rpc.chain_id, tx_hash=tx_hash, reason=str(fault))
        return None


def _ask_for(tx_hash: str) -> list[Question]:
    return [("eth_getTransactionReceipt", [tx_hash]), ("eth_getTransactionByHash", [tx_hash])]


def _read_both(told: list[Answer], tx_hash: str) -> tuple[ChainTransaction | None, Receipt | None, int]:
    """Return a transaction, its receipt and its block's number, as far as there are such."""
    for answer in told:
        if isinstance(answer, RpcRefused):
            raise answer
    receipt, record = told
    if not isinstance(record, dict):
        return None, None, 0
    transaction = read_transaction(record)
    if transaction.tx_hash != tx_hash:
        raise BadPayload(f"{transaction.tx_hash} was answered for {tx_hash}")
    if not isinstance(receipt, dict):
        return transaction, None, 0
    return transaction, read_receipt(receipt, tx_hash), read_quantity(receipt, "blockNumber")


def _describe_mined(
    rpc: RpcPool, head: Block, transaction: ChainTransaction, receipt: Receipt, number: int
) -> SeenTransaction | None:
    block = rpc.read_block(number)
    if block is None or block.hash != receipt.block_hash or number > head.number:
        return None  # it has just been mined, or moved while it was read
    said = "" if receipt.is_successful else _ask_why(rpc, transaction, number)
    mined = Mined(chain_id=rpc.chain_id, block=to_block(block), transaction=transaction, receipt=receipt)
    deposits = _read_deposits(mined) if receipt.is_successful else ()
    return SeenTransaction(
        mined_at=mined.block.mined_at,
        block_number=number,
        confirmations=head.number - number + 1,
        is_final=head.final is not None and number <= head.final,
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
    readers = find_readers(mined.chain_id)
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
