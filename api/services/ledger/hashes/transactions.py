"""Whether transactions are those of a block: they hash to its transactions root, and each to its own hash.

Receipts do not name their transactions, so without this a node could put any calldata beside a real receipt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from adapters.base import BadPayload
from adapters.rpc.abi import read_hex, read_quantity
from api.services.ledger.hashes.encoding import LIST, encode_rlp, make_prefix
from api.services.ledger.hashes.receipts import LEGACY, OPTIMISM_DEPOSIT, POLYGON_STATE_SYNC, NotProven
from api.services.ledger.hashes.tries import compute_root

NUMBER, DATA, FLAG, ADDRESS, MAYBE_ADDRESS, HASH = "number", "data", "flag", "address", "maybe address", "hash"
ACCESS, AUTHORIZATIONS, HASHES, CAP = "access", "authorizations", "hashes", "cap"

_CALL = (("gas", NUMBER), ("to", MAYBE_ADDRESS), ("value", NUMBER), ("input", DATA))
_FEES = (("maxPriorityFeePerGas", NUMBER), ("maxFeePerGas", NUMBER))
_START = (("chainId", NUMBER), ("nonce", NUMBER))
_BLOBS = (("maxFeePerBlobGas", NUMBER), ("blobVersionedHashes", HASHES))
_ACCESS = (("accessList", ACCESS),)
_CAP = ("maxFeePerGas", CAP)

SIGNED = {
    LEGACY: (("nonce", NUMBER), ("gasPrice", NUMBER), *_CALL),
    0x01: (*_START, ("gasPrice", NUMBER), *_CALL, *_ACCESS),
    0x02: (*_START, *_FEES, *_CALL, *_ACCESS),
    0x03: (*_START, *_FEES, *_CALL, *_ACCESS, *_BLOBS),
    0x04: (*_START, *_FEES, *_CALL, *_ACCESS, ("authorizationList", AUTHORIZATIONS)),
}
"""Fields before the signature, by type: EIP-2930, 1559, 4844, 7702."""

UNSIGNED = {
    OPTIMISM_DEPOSIT: (
        *(("sourceHash", HASH), ("from", ADDRESS), ("to", MAYBE_ADDRESS), ("mint", NUMBER), ("value", NUMBER)),
        *(("gas", NUMBER), ("isSystemTx", FLAG), ("input", DATA)),
    ),
    0x64: (("chainId", NUMBER), ("requestId", HASH), ("from", ADDRESS), ("to", ADDRESS), ("value", NUMBER)),
    0x65: (("chainId", NUMBER), ("from", ADDRESS), ("nonce", NUMBER), _CAP, *_CALL),
    0x66: (("chainId", NUMBER), ("requestId", HASH), ("from", ADDRESS), _CAP, *_CALL),
    0x68: (
        *(*_START, ("from", ADDRESS), _CAP, *_CALL, ("ticketId", HASH), ("refundTo", ADDRESS)),
        *(("maxRefund", NUMBER), ("submissionFeeRefund", NUMBER)),
    ),
    0x69: (
        *(("chainId", NUMBER), ("requestId", HASH), ("from", ADDRESS), ("l1BaseFee", NUMBER)),
        *(("depositValue", NUMBER), _CAP, ("gas", NUMBER), ("retryTo", MAYBE_ADDRESS), ("retryValue", NUMBER)),
        *(("beneficiary", ADDRESS), ("maxSubmissionFee", NUMBER), ("refundTo", ADDRESS), ("retryData", DATA)),
    ),
    0x6A: (("chainId", NUMBER), ("input", DATA)),
}
"""What no key signs: deposits of OP Stack chains, and Arbitrum's own (nitro, ``core/types/arb_types.go``)."""

FIRST_REPLAY_PROTECTED_V = 35
"""EIP-155: a legacy signature says which chain it is for by a ``v`` from here on."""


def encode_transaction(record: Mapping[str, Any]) -> bytes:
    """Return a transaction as it stands in the trie.

    Raises
    ------
    NotProven
        If its type is not known.
    BadPayload
        If a field is missing or malformed.
    """
    kind = _read_kind(record)
    if kind in SIGNED:
        signature = [
            _find_signed_parity(record, kind),
            read_quantity(record, "r", 256),
            read_quantity(record, "s", 256),
        ]
        fields = [*_encode(record, SIGNED[kind]), *signature]
        return encode_rlp(fields) if kind == LEGACY else bytes([kind]) + encode_rlp(fields)
    if kind in UNSIGNED:
        return bytes([kind]) + encode_rlp(_encode(record, UNSIGNED[kind]))
    raise NotProven(f"transactions of type {kind:#x} are not known")


def check_transactions(header: Mapping[str, Any], raw: Mapping[str, bytes], *, is_rehearsal: bool) -> None:
    """Make sure that a block's transactions are all it has, in their order, and that each has its own hash.

    Parameters
    ----------
    header : mapping
        The block with its transactions.
    raw : mapping of str to bytes
        Transactions as the node gave them in binary, by hash: those whose type is not known.
    is_rehearsal : bool
        See `check_sender`.

    Raises
    ------
    NotProven
        If they do not hash to the block's transactions root, or one has another hash.
    """
    records: Sequence[Mapping[str, Any]] = header.get("transactions") or ()
    encoded = [raw.get(str(each.get("hash")).lower()) or encode_transaction(each) for each in records]
    for record, each in zip(records, encoded, strict=True):
        if not (_has_hash(record, each) or (is_rehearsal and _is_unsigned(record, each))):
            raise NotProven(f"a transaction does not hash to {record.get('hash')}")
    found = compute_root(encoded)
    if found != str(header.get("transactionsRoot")).lower():
        raise NotProven(f"the transactions of block {header.get('hash')} hash to {found}")


def check_sender(record: Mapping[str, Any], *, is_rehearsal: bool) -> None:
    """Make sure that a transaction has its hash, and that its sender signed it.

    Parameters
    ----------
    is_rehearsal : bool
        Whether the chain may be a developer's, which takes transactions from anybody's address without a signature and
        hashes them together with that address.

    Raises
    ------
    NotProven
        If the transaction is somebody else's, or has another hash.
    """
    encoded, sender = encode_transaction(record), read_hex(record.get("from"), "from", 20)
    if is_rehearsal and _is_unsigned(record, encoded):
        return
    if not _has_hash(record, encoded):
        raise NotProven(f"a transaction does not hash to {record.get('hash')}")
    if _read_kind(record) in SIGNED and _recover(record) != sender:
        raise NotProven(f"{record.get('hash')} was not signed by 0x{sender.hex()}")


def is_known(record: Mapping[str, Any]) -> bool:
    """Whether a transaction's type is one that can be encoded here."""
    return _read_kind(record) in SIGNED or _read_kind(record) in UNSIGNED


def _has_hash(record: Mapping[str, Any], encoded: bytes) -> bool:
    told = read_hex(record.get("hash"), "hash", 32)
    return told == keccak(encoded) or (_read_kind(record) == POLYGON_STATE_SYNC and told == keccak(_nest(encoded)))


def _nest(encoded: bytes) -> bytes:
    """Return what Bor hashes of a state sync: a structure of one list, where its bytes have the list alone."""
    return encoded[:1] + make_prefix(len(encoded) - 1, LIST) + encoded[1:]


def _is_unsigned(record: Mapping[str, Any], encoded: bytes) -> bool:
    """Whether a developer's chain took it from its sender without a signature."""
    sender = read_hex(record.get("from"), "from", 20)
    return keccak(_wrap(encoded) + sender) == read_hex(record.get("hash"), "hash", 32)


def _read_kind(record: Mapping[str, Any]) -> int:
    return read_quantity(record, "type") if record.get("type") is not None else LEGACY


def _wrap(encoded: bytes) -> bytes:
    """Return a transaction as it is sent from node to node: a typed one is a string within a list."""
    return encoded if encoded[0] > max(SIGNED) else encode_rlp(encoded)


def _find_signed_parity(record: Mapping[str, Any], kind: int) -> int:
    field = "yParity" if kind != LEGACY and record.get("yParity") is not None else "v"
    return read_quantity(record, field, 256)


def _recover(record: Mapping[str, Any]) -> bytes:
    kind, v = _read_kind(record), _find_signed_parity(record, _read_kind(record))
    fields = _encode(record, SIGNED[kind])
    if kind == LEGACY and v >= FIRST_REPLAY_PROTECTED_V:
        chain_id, parity = divmod(v - FIRST_REPLAY_PROTECTED_V, 2)
        message = encode_rlp([*fields, chain_id, 0, 0])
    elif kind == LEGACY:
        parity, message = v - 27, encode_rlp(fields)
    else:
        parity, message = v, bytes([kind]) + encode_rlp(fields)
    try:
        signature = Signature(vrs=(parity, read_quantity(record, "r", 256), read_quantity(record, "s", 256)))
        return signature.recover_public_key_from_msg_hash(keccak(message)).to_canonical_address()
    except (BadSignature, ValidationError) as error:
        raise NotProven(f"the signature of {record.get('hash')} is none: {error}") from error


def _encode(record: Mapping[str, Any], fields: Sequence[tuple[str, str]]) -> list[Any]:
    return [_read_field(record, name, kind) for name, kind in fields]


def _read_field(record: Mapping[str, Any], name: str, kind: str) -> Any:
    value = record.get(name)
    if kind == CAP:  # of what a contract on Ethereum has sent without a signature, nitro tells it as the price alone
        return read_quantity(record, name if value is not None else "gasPrice", 256)
    if kind == NUMBER:
        return 0 if value is None else read_quantity(record, name, 256)
    if kind == FLAG:
        return int(value is True)
    if kind == MAYBE_ADDRESS:
        return b"" if value is None else read_hex(value, name, 20)
    if kind in (ACCESS, AUTHORIZATIONS, HASHES):
        return [_encode_access_list(each, kind) for each in _list_of(value, name)]
    return read_hex(value, name, {ADDRESS: 20, HASH: 32}.get(kind))


def _encode_access_list(item: Any, kind: str) -> Any:
    if kind == HASHES:
        return read_hex(item, "blobVersionedHashes", 32)
    if not isinstance(item, dict):
        raise BadPayload(f"an entry must be an object, not {str(item)[:80]!r}")
    address = read_hex(item.get("address"), "address", 20)
    if kind == ACCESS:
        return [address, [read_hex(key, "storageKeys", 32) for key in _list_of(item.get("storageKeys"), "storageKeys")]]
    numbers = [read_quantity(item, name, 256) for name in ("chainId", "nonce", "yParity", "r", "s")]
    return [numbers[0], address, *numbers[1:]]


def _list_of(value: object, name: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadPayload(f"{name} must be a list, not {str(value)[:80]!r}")
    return value
