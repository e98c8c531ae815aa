"""Coin that a contract paid out: no event names who received it, so balances must tell.

A swap that ends in the chain's coin unwraps it and sends it on, or takes it out of Uniswap v4's manager. The
transaction carries a reference and names the recipient in its calldata. How much arrived a trace of its calls says, or
else what the recipient has more after the block than before, if nobody else can have paid it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from eth_utils.crypto import keccak

from adapters.chain.abi import Log, quantity
from adapters.chain.deployments import deployments_of
from adapters.endpoint import Answer, Question, RpcRefused
from api.domain.ledger import Transfer
from api.services.chain_ledger_records import (
    REFERENCE_BYTES,
    SELECTOR_BYTES,
    WORD,
    FullBlock,
    references_in,
)
from api.services.chain_ledger_transfers import Mined, coin_paid_out
from routing_engine.chains import CHAINS
from routing_engine.model import NATIVE_ADDRESS

WITHDRAWAL = "0x" + keccak(text="Withdrawal(address,uint256)").hex()
"""Of the contract that wraps the coin: it was unwrapped."""
V4_SWAP = "0x" + keccak(text="Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)").hex()
"""Of Uniswap v4's manager; what is above zero it owes. Where a pool holds the coin, that is the first of the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinDelivery:
    """A transaction that made coin available and names a recipient, who may have received it.

    Parameters
    ----------
    available : int
        Wei, all events together; `log_index` is that of the last one.
    has_spent : bool
        Whether the recipient sent transactions in the same block, so that its balance tells nothing.
    """

    mined: Mined
    log_index: int
    recipient: str
    available: int
    has_spent: bool

    @property
    def trace_question(self) -> Question:
        """The question that `traced` takes the answer to; many nodes refuse it."""
        return ("debug_traceTransaction", [self.mined.transaction.tx_hash, {"tracer": "callTracer"}])

    @property
    def balance_questions(self) -> list[Question]:
        """The questions that `balance_rise` takes the answers to."""
        number = self.mined.block.number
        return [("eth_getBalance", [self.recipient, hex(each)]) for each in (number - 1, number)]

    def traced(self, trace: Answer) -> int | None:
        """Return what the calls of the transaction sent to the recipient; None where the node gave no trace."""
        if not isinstance(trace, dict):
            return None
        if trace.get("error"):
            return 0
        is_paid = str(trace.get("to")).lower() == self.recipient and trace.get("type") == "CALL"
        own = quantity(trace, "value", 256) if is_paid else 0
        return own + sum(self.traced(call) or 0 for call in trace.get("calls") or ())

    def balance_rise(self, answers: list[Answer], others: Collection[Transfer]) -> int | None:
        """Return by how much the recipient's balance rose in the block, beside `others`, as far as it was available.

        None where the node has not got the balances.
        """
        if any(isinstance(answer, RpcRefused) for answer in answers):
            return None
        before, after = (quantity({"balance": answer}, "balance", 256) for answer in answers)
        known = sum(
            row.amount
            for row in others
            if (row.token_address, row.recipient, row.block) == (NATIVE_ADDRESS, self.recipient, self.mined.block)
        )
        return max(0, min(self.available, after - before - known))

    def transfer(self, amount: int, *, is_proven: bool) -> Transfer:
        """Return the transfer; without proof that it was this transaction's, nobody's reference is read from it."""
        references = references_in(self.mined.transaction.calldata) if is_proven else ()
        return coin_paid_out(self.mined, self.log_index, self.recipient, amount, references)


def naming(blocks: Mapping[int, FullBlock], recipients: Collection[str]) -> dict[str, FullBlock]:
    """Return the transactions that have a reference and name one of the addresses in their calldata."""
    digits = [address[2:] for address in recipients]
    return {
        tx_hash: block
        for block in blocks.values()
        for tx_hash, record in block.records.items()
        if _has_reference(text := str(record.get("input"))) and any(each in text.lower() for each in digits)
    }


def delivery(mined: Mined, block: FullBlock, recipients: Collection[str]) -> CoinDelivery | None:
    """Return the delivery of coin that a transaction may have made, or None if it had none or names nobody."""
    sources = {log.index: wei for log in mined.receipt.logs if (wei := _coin_of(mined.chain_id, log))}
    text = mined.transaction.calldata.hex()
    recipient = next((each for each in sorted(recipients) if each[2:] in text), None)
    if not sources or recipient is None or not _has_reference("0x" + text):
        return None
    senders = {str(record.get("from")).lower() for record in block.records.values()}
    return CoinDelivery(
        mined=mined,
        log_index=max(sources),
        recipient=recipient,
        available=sum(sources.values()),
        has_spent=recipient in senders,
    )


def _has_reference(text: str) -> bool:
    return (len(text) // 2 - 1) % WORD == SELECTOR_BYTES + REFERENCE_BYTES


def _coin_of(chain_id: int, log: Log) -> int:
    """Return the wei that an event may have made available: what was unwrapped, or what v4's manager owes."""
    chain = CHAINS.get(chain_id)
    if chain is not None and log.address == chain.wrapped_native:
        return int.from_bytes(log.data) if log.topics[:1] == (WITHDRAWAL,) and len(log.data) == WORD else 0
    if log.topics[:1] == (V4_SWAP,) and log.address in _managers(chain_id):
        return max(0, int.from_bytes(log.data[:WORD], signed=True))
    return 0


@cache
def _managers(chain_id: int) -> frozenset[str]:
    return frozenset(facts.address("manager") for facts in deployments_of("uniswap_v4", chain_id))
