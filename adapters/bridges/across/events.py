"""Across: what its pools' events say of deposits, of fills and of money given back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from eth_utils.crypto import keccak

from adapters.bridges.events import (
    BridgeEvent,
    BridgeRefund,
    Delivery,
    Deposit,
    hash_fields,
    hash_signature,
    read_number,
    read_topic,
    read_topic_number,
    read_values,
    read_word,
)
from adapters.bridges.promise import Promise
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import WORD, Log
from adapters.transactions.decoded import read_address
from routing_engine.reference.chains import CHAINS

FUNDS_DEPOSITED = (*("bytes32",) * 2, *("uint256",) * 2, *("uint32",) * 3, *("bytes32",) * 2, "bytes")
"""Token in and out, amount in and out, moments of the quote, of the last fill and of exclusivity, recipient, exclusive
relayer, message."""


WITH_MESSAGE = "message"
"""`Promise.only` of a deposit that calls its recipient."""


class AcrossEvents:
    """Events of ``SpokePool.sol`` (npm @across-protocol/contracts 5.0.27).

    Anybody may fill a "relay" that nobody deposited: a fill answers a deposit only if all of the relay's data are the
    deposit's, of which the identity is a hash. ``FilledRelay`` comes before its transfer.
    """

    DEPOSIT = hash_signature(
        "FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,bytes32,bytes32,bytes32,bytes)"
    )
    FILL = hash_signature(
        "FilledRelay(bytes32,bytes32,uint256,uint256,uint256,uint256,uint256,uint32,uint32,bytes32,bytes32,bytes32,"
        "bytes32,bytes32,(bytes32,bytes32,uint256,uint8))"
    )
    REFUND = hash_signature(
        "ExecutedRelayerRefundRoot(uint256,uint256,uint256[],uint32,uint32,address,address[],bool,address)"
    )
    topics = frozenset({DEPOSIT, FILL, REFUND})

    def __init__(self, chain_id: int, spoke_pool: str) -> None:
        self._chain_id = chain_id
        self.contracts = frozenset({spoke_pool})

    def read(self, log: Log) -> BridgeEvent | None:
        """Return a deposit, a fill, or that deposits are given back."""
        if log.topics[0] == self.REFUND:
            return BridgeRefund(contract=log.address)
        return self._read_deposit(log) if log.topics[0] == self.DEPOSIT else self._read_fill(log)

    def complete(self, deposit: Deposit, calldata: bytes) -> Deposit:
        """Return it as it is: the event says everything."""
        return deposit

    def _read_deposit(self, log: Log) -> Deposit:
        read_word(log, len(FUNDS_DEPOSITED) - 1)
        chain_id, deposit_id, depositor = read_topic_number(log, 1), read_topic_number(log, 2), read_topic(log, 3)
        sold, bought, paid, out, _, ends, exclusive, recipient, relayer, message = read_values(log, *FUNDS_DEPOSITED)
        message_hash = keccak(message) if message else bytes(WORD)
        relay = (depositor, recipient, relayer, sold, bought, paid, out, ends, exclusive, message_hash)
        return Deposit(
            bridge_id=f"across:{hash_fields(self._chain_id, chain_id, deposit_id, *relay)}",
            contract=log.address,
            token_address=read_address(sold),
            recipient=read_address(recipient),
            amount=paid,
            fill_deadline=datetime.fromtimestamp(ends, UTC),
            promise=self._make_promise(chain_id, bought, recipient, out, relayer, message),
            delivery_topics=(self.FILL, f"0x{self._chain_id:064x}", log.topics[2]),
        )

    def _make_promise(
        self, chain_id: int, bought: bytes, recipient: bytes, amount: int, relayer: bytes, message: bytes
    ) -> Promise | None:
        """Return what is to be delivered; None where the chain is none: the contract takes any number for one."""
        if chain_id not in CHAINS:
            return None
        only = read_address(relayer) if any(relayer) else ""
        return Promise(
            chain_id=chain_id,
            token_address=read_address(bought),
            recipient=read_address(recipient),
            amount=amount,
            only=WITH_MESSAGE if message else only,
        )

    def _read_fill(self, log: Log) -> Delivery:
        origin, deposit_id = read_topic_number(log, 1), read_topic_number(log, 2)
        sold, bought, recipient = read_word(log, 0), read_word(log, 1), read_word(log, 9)
        people = read_word(log, 8), recipient, read_word(log, 7)
        relay = (*people, sold, bought, *(read_word(log, place) for place in (2, 3, 5, 6)), read_word(log, 10))
        received_by = read_address(read_word(log, 11))
        return Delivery(
            bridge_id=f"across:{hash_fields(origin, self._chain_id, deposit_id, *relay)}",
            contract=log.address,
            token_address=read_address(bought),
            recipient=received_by,
            amount=read_number(log, 13),
            is_announced=True,
            meant_for=read_address(recipient) if read_address(recipient) != received_by else "",
        )


def find_readers(chain_id: int) -> Iterator[AcrossEvents]:
    """Yield the events of a chain's pool."""
    for facts in read_deployments("across", chain_id):
        yield AcrossEvents(chain_id, facts.get_address("spoke_pool"))
