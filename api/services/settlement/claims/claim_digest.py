"""What a payer signs to claim a transfer for an order (EIP-712), and its digest.

It names this service, environment, order, chain, transaction, log index and account, so that it is of use for nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eth_utils.crypto import keccak

from adapters.rpc.recursion import keep_recursion_limit
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


def build_typed_data(service: str, order: PaymentOrder, payment: Payment) -> dict[str, Any]:
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


def compute_digest(data: Mapping[str, Any]) -> bytes:
    """Return the EIP-712 digest of what `build_typed_data` gives."""
    with keep_recursion_limit():  # loaded when first needed: it takes a third of the time in which a process starts
        from eth_account.messages import encode_typed_data
    signable = encode_typed_data(full_message=dict(data))
    return keccak(b"\x19" + signable.version + signable.header + signable.body)
