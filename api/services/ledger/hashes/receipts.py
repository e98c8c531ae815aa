"""Whether receipts are those of a block: they hash to its receipts root, and the header with that root to its hash.

How each chain encodes them, and where that is written: ADR 15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eth_utils.crypto import keccak

from adapters.base import BadPayload
from adapters.rpc.abi import read_hex, read_quantity
from api.services.ledger.blooms import BLOOM_BYTES, make_bloom
from api.services.ledger.hashes.encoding import encode_rlp
from api.services.ledger.hashes.tries import compute_root

LEGACY = 0x00
OPTIMISM_DEPOSIT = 0x7E
ARBITRUM_LEGACY = 0x78
TYPED = frozenset({0x01, 0x02, 0x03, 0x04})
ARBITRUM_TYPED = frozenset({0x64, 0x65, 0x66, 0x68, 0x69, 0x6A})
POLYGON_STATE_SYNC = 0x7F
"""Since the fork Madhugiri; before it such receipts came as legacy ones, and were not in the root."""
BOR_RECEIPT = b"matic-bor-receipt-"
POLYGON = 137
NOBODY = "0x" + "00" * 20

HEADER_FIELDS = (
    *(("parentHash", 32), ("sha3Uncles", 32), ("miner", 20), ("stateRoot", 32), ("transactionsRoot", 32)),
    *(("receiptsRoot", 32), ("logsBloom", BLOOM_BYTES), ("difficulty", 0), ("number", 0), ("gasLimit", 0)),
    *(("gasUsed", 0), ("timestamp", 0), ("extraData", None), ("mixHash", 32), ("nonce", 8)),
)
"""Of every block, in the order of its header: how many bytes, 0 for a number, None for any length."""
LATER_FIELDS = (
    *(("baseFeePerGas", 0), ("withdrawalsRoot", 32), ("blobGasUsed", 0), ("excessBlobGas", 0)),
    *(("parentBeaconBlockRoot", 32), ("requestsHash", 32), ("blockAccessListHash", 32), ("slotNumber", 0)),
)
"""Those that forks have added one after the other; the first that is missing ends the header."""


class NotProven(BadPayload):
    """What an endpoint says of a block does not hash to it: a lie, or an encoding that is not known here."""

    code = "not_proven"


def hash_header(record: Mapping[str, Any]) -> str:
    """Return the hash of a block's header, from its fields.

    Raises
    ------
    BadPayload
        If a field is missing or malformed.
    """
    fields = [_read_header_field(record, name, size) for name, size in HEADER_FIELDS]
    for name, size in LATER_FIELDS:
        if record.get(name) is None:
            break
        fields.append(_read_header_field(record, name, size))
    return "0x" + keccak(encode_rlp(fields)).hex()


def encode_receipt(record: Mapping[str, Any]) -> bytes:
    """Return a receipt as it stands in the trie; its bloom is made from its logs.

    Raises
    ------
    NotProven
        If its type is not known.
    BadPayload
        If a field is missing or malformed.
    """
    kind = read_quantity(record, "type") if record.get("type") is not None else LEGACY
    logs = [_log_fields(log) for log in _read_logs(record)]
    bloom = make_bloom(item for address, topics, _ in logs for item in (address, *topics))
    fields: list[Any] = [
        _encode_outcome(record),
        read_quantity(record, "cumulativeGasUsed"),
        bloom.to_bytes(BLOOM_BYTES),
        logs,
    ]
    if kind in (LEGACY, ARBITRUM_LEGACY):
        return encode_rlp(fields)
    if kind == OPTIMISM_DEPOSIT and record.get("depositReceiptVersion") is not None:
        # Between the forks Regolith and Canyon the nonce was known, but not hashed.
        fields += [read_quantity(record, "depositNonce"), read_quantity(record, "depositReceiptVersion")]
    elif kind not in TYPED | ARBITRUM_TYPED | {OPTIMISM_DEPOSIT, POLYGON_STATE_SYNC}:
        raise NotProven(f"receipts of type {kind:#x} are not known")
    return bytes([kind]) + encode_rlp(fields)


def check_header(record: Mapping[str, Any], block_hash: str) -> None:
    """Make sure that a header is that of the block with this hash.

    Who mined it may be told in place of the nobody who is hashed: that is how Erigon tells of Polygon's blocks.

    Raises
    ------
    NotProven
        If it hashes to something else.
    """
    found = hash_header(record)
    if block_hash not in (found, hash_header({**record, "miner": NOBODY})):
        raise NotProven(f"a header hashes to {found}, not to {block_hash}")


def check_receipts(chain_id: int, header: Mapping[str, Any], receipts: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that these are all receipts of a block, in their order, and nothing but its receipts.

    What hashes are not made of is checked too: each receipt stands at the place of its transaction, and its logs bear
    the numbers that follow from their places in the block.

    Raises
    ------
    NotProven
        If they do not hash to the header's receipts root, or are not numbered as they must be.
    BadPayload
        If a field is missing or malformed.
    """
    block_hash = "0x" + read_hex(header.get("hash"), "hash", 32).hex()
    hashed = [each for each in receipts if not _is_left_out(chain_id, header, each)]
    found, wanted = compute_root(map(encode_receipt, hashed)), str(header.get("receiptsRoot")).lower()
    if found != wanted:
        raise NotProven(f"the receipts of block {block_hash} hash to {found}, not to {wanted}")
    sent = [str(each.get("hash")).lower() for each in header.get("transactions") or () if isinstance(each, dict)]
    index = 0
    for place, receipt in enumerate(hashed):
        tx_hash = str(receipt.get("transactionHash")).lower()
        if sent[place : place + 1] != [tx_hash] or str(receipt.get("blockHash")).lower() != block_hash:
            raise NotProven(f"the receipt of {tx_hash} stands for another transaction of block {block_hash}")
        for log in _read_logs(receipt):
            if read_quantity(log, "logIndex") != index or str(log.get("transactionHash")).lower() != tx_hash:
                raise NotProven(f"the logs of {tx_hash} are numbered wrongly")
            index += 1


def _is_left_out(chain_id: int, header: Mapping[str, Any], receipt: Mapping[str, Any]) -> bool:
    """Whether it is the receipt of Polygon's state sync as it was before the fork Madhugiri."""
    if chain_id != POLYGON:
        return False
    number, block_hash = read_quantity(header, "number"), read_hex(header.get("hash"), "hash", 32)
    derived = "0x" + keccak(BOR_RECEIPT + number.to_bytes(8) + block_hash).hex()
    return str(receipt.get("transactionHash")).lower() == derived


def _read_header_field(record: Mapping[str, Any], name: str, size: int | None) -> bytes | int:
    return read_quantity(record, name, 256) if size == 0 else read_hex(record.get(name), name, size)


def _encode_outcome(record: Mapping[str, Any]) -> bytes:
    """Return what stands first: the status, or the state after it in blocks before the fork Byzantium."""
    if record.get("status") is None:
        return read_hex(record.get("root"), "root", 32)
    return b"\x01" if read_quantity(record, "status") == 1 else b""


def _read_logs(record: Mapping[str, Any]) -> list[Any]:
    logs = record.get("logs") or []
    if not isinstance(logs, list):
        raise BadPayload(f"a receipt's logs must be a list, not {str(logs)[:80]!r}")
    return logs


def _log_fields(log: object) -> list[Any]:
    if not isinstance(log, dict):
        raise BadPayload(f"a log must be an object, not {str(log)[:80]!r}")
    topics = log.get("topics")
    if not isinstance(topics, list):
        raise BadPayload("a log's topics must be a list")
    return [
        read_hex(log.get("address"), "address", 20),
        [read_hex(topic, "topic", 32) for topic in topics],
        read_hex(log.get("data"), "data"),
    ]
