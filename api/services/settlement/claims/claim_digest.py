"""What a payer signs to claim a transfer for an order (EIP-712), and its digest.

It names this service, environment, order, chain, transaction, log index and account, so that it is of use for nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from api.storage.tables import Payment, PaymentOrder

FIELDS = (
    {"name": "service", "type": "string"},
    {"name": "environment", "type": "string"},
    {"name": "order", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "transactionHash", "type": "bytes32"},
    {"name": "logIndex", "type": "int256"},
    {"name": "account", "type": "address"},
)


def typed_data(service: str, order: PaymentOrder, payment: Payment) -> dict[str, Any]:
    """Return what the payer signs; `service` is its public address."""
    return {
        "domain": {"name": "Payment claim", "version": "1", "chainId": payment.chain_id},
        "primaryType": "PaymentClaim",
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
            ],
            "PaymentClaim": list(FIELDS),
        },
        "message": {
            "service": service,
            "environment": order.env_mode,
            "order": order.id,
            "chainId": payment.chain_id,
            "transactionHash": payment.tx_hash,
            "logIndex": payment.log_index,
            "account": payment.sender,
        },
    }


def digest_of(data: Mapping[str, Any]) -> bytes:
    """Return the EIP-712 digest of what `typed_data` gives.

    Not by eth_account: to import it lets Python recurse so deeply that a request's nested brackets end the process.
    """
    domain = _hash_struct("EIP712Domain", data["types"]["EIP712Domain"], data["domain"])
    return keccak(b"\x19\x01" + domain + _hash_struct("PaymentClaim", FIELDS, data["message"]))


def _hash_struct(name: str, fields: Iterable[Mapping[str, str]], values: Mapping[str, Any]) -> bytes:
    """Return EIP-712's hash of a struct without structs in it."""
    known = [(each["type"], each["name"]) for each in fields]
    kind = f"{name}({','.join(f'{type_} {field}' for type_, field in known)})"
    words = [keccak(text=kind), *(_word(type_, values[field]) for type_, field in known)]
    return keccak(b"".join(words))


def _word(type_: str, value: Any) -> bytes:
    if type_ == "string":
        return keccak(text=value)
    if type_ == "bytes32":
        return bytes.fromhex(value[2:])
    return encode([type_], [value])
