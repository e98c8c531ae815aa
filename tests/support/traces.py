"""Traces, logs and receipts as a node tells them, made up of calls."""

from __future__ import annotations

from typing import Any

from adapters.rpc.abi import Function, Log
from api.services.ledger.evidence.evidence import TracedEvidence
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, list_coin_movements, list_token_movements
from api.services.ledger.evidence.traces import CallTree
from api.services.ledger.rpc_records import ChainTransaction, Receipt

SHOP, PAYER, TOKEN, TOOL, SELLER = (f"0x{digit * 20}" for digit in ("51", "aa", "cc", "77", "5e"))
REFERENCE = b"reference of one"


def person(number: int) -> str:
    """Return one of many addresses."""
    return f"0x{number + 2**80:040x}"


def log_of(index: int, sender: str, recipient: str, amount: int = 1) -> Log:
    """Return the event of a token that moves."""
    topics = (TRANSFER_TOPIC, *(f"0x{'00' * 12}{each[2:]}" for each in (sender, recipient)))
    return Log(
        address=TOKEN, topics=topics, data=amount.to_bytes(32), block_number=1, block_hash="0x" + "00" * 32,
        index=index,
    )  # fmt: skip


def told(log: Log, position: int = 0) -> dict[str, Any]:
    """Return an event as it stands in a trace."""
    return {
        "address": log.address,
        "topics": list(log.topics),
        "data": f"0x{log.data.hex()}",
        "position": hex(position),
    }


def call(sender: str, to: str, data: bytes = b"", *, value: int = 0, logs: Any = (), calls: Any = ()) -> dict[str, Any]:
    """Return a call as it stands in a trace."""
    frame = {"type": "CALL", "from": sender, "to": to, "input": f"0x{data.hex()}", "value": hex(value)}
    return frame | {"logs": list(logs), "calls": list(calls)}


def sent(root: dict[str, Any]) -> ChainTransaction:
    """Return the transaction whose outermost call is this one."""
    return ChainTransaction(
        tx_hash="0x" + "77" * 32, sender=root["from"], recipient=root["to"], value=int(root["value"], 16),
        calldata=bytes.fromhex(root["input"][2:]),
    )  # fmt: skip


def receipt(*logs: Log) -> Receipt:
    """Return the receipt of a transaction that succeeded with these events."""
    return Receipt(tx_hash="0x" + "77" * 32, block_hash="0x" + "00" * 32, is_successful=True, logs=logs)


def evidence_of(tree: CallTree, logs: tuple[Log, ...], *routers: str) -> TracedEvidence:
    """Return what a trace shows to a shop, where the routers are listed."""
    movements = [*list_token_movements(1, logs, tree.frame_of_log), *list_coin_movements(tree)]
    listed = Listed(contracts=frozenset(routers), passing=frozenset(routers))
    return TracedEvidence(tree, movements, listed=listed, earned={}, recipients={SHOP}, events=(), bridges=())


AUTHORIZED = Function(
    "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)(TOKEN, PAYER, SHOP, 1, 0, 2**40, bytes(32), 27, bytes(32), bytes(32)).data
"""A call of the token by which the payer's signature sends a unit to the shop (ERC-3009)."""
