"""Evidence without a trace: only what a transaction's own call says, where contracts that are known take it.

That is a transfer of the coin or of a token, and what `adapters.transactions.decoding` reads. Such a call counts only
if the receipt shows the movement that it says, and nobody's money but the sender's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from adapters.bridges.events import BridgeEvents, Deposit
from adapters.transactions.decoded import REFERENCE_BYTES, DecodedPayment
from adapters.transactions.decoding import decode_payment
from adapters.transactions.erc20 import TRANSFER
from api.domain.transfers import COIN_TRANSFER, FIRST_INNER_TRANSFER, Naming
from api.services.ledger.evidence.balances import MOST_LOSERS
from api.services.ledger.evidence.evidence import PayerProof
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import (
    Movement,
    find_wrapped_coin,
    is_transfer,
)
from api.services.ledger.evidence.permissions import is_authorization
from api.services.ledger.evidence.traces import is_chains_own
from api.services.ledger.rpc_records import ChainTransaction, Receipt
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference import token_registry


class CalldataEvidence:
    """Evidence from a transaction and its receipt.

    Parameters
    ----------
    chain_id : int
        Of the transaction.
    transaction, receipt : ChainTransaction and Receipt
        A transaction that did not revert.
    tokens : sequence of Movement
        What events tell of: see `list_token_movements`.
    things : sequence of Movement
        What changed hands beside money; see `list_things`.
    listed : Listed
        Markets, routers and bridges.
    recipients : collection of str
        Movements to whom are asked about.
    events : sequence of (int, BridgeEvent)
        What bridges say. Where one paid somebody out, the transaction proves nothing.
    """

    def __init__(
        self,
        chain_id: int,
        transaction: ChainTransaction,
        receipt: Receipt,
        *,
        tokens: Sequence[Movement],
        things: Sequence[Movement],
        listed: Listed,
        recipients: Collection[str],
        events: BridgeEvents,
    ) -> None:
        self._chain_id, self._transaction, self._receipt = chain_id, transaction, receipt
        self._listed, self._recipients = listed, recipients
        self.knows_coin = False
        self._deposits = [event for _, event in events if isinstance(event, Deposit)]
        self._is_open = len(self._deposits) == len(events)
        self._decoded = decode_call(chain_id, transaction)
        self._tokens, self._things = tokens, things
        self.movements: Sequence[Movement] = [*self._tokens, *self._list_coin_movements()]

    def proof_of(self, movement: Movement) -> PayerProof:
        """Return the sender's own naming where the call pays just this; else what is known of who paid."""
        sent = self._transaction
        if movement.index == COIN_TRANSFER:
            tail = sent.calldata if len(sent.calldata) == REFERENCE_BYTES else b""
            return self._prove_own(tail)
        if not self._is_open:
            return PayerProof()
        tail_of_transfer = find_token_transfer_tail(sent, self._receipt)
        if tail_of_transfer is not None:
            return self._prove_own(tail_of_transfer)
        if self._decoded is not None and self._is_paid_by_call(self._decoded, movement):
            return self._prove_own(self._decoded.reference)
        return self._prove_holder(movement)

    def proof_of_deposit(self, place: int, deposit: Deposit) -> PayerProof:
        """Return the sender's own naming where the transaction's call makes just this deposit."""
        said = self._decoded
        handed_over = [row for row in self._things if not row.is_named]
        is_only = len(self._deposits) == 1 and self._is_spending_own(handed_over)
        if said is None or not said.is_deposit or not is_only:
            return PayerProof(sender="" if deposit.payer in self._listed else deposit.payer)
        is_same = (said.contract, said.token_address) == (deposit.contract, deposit.token_address)
        if not is_same or deposit.recipient not in ("", said.recipient) or said.amount not in (None, deposit.amount):
            return PayerProof()
        return self._prove_own(said.reference)

    def call_at(self, place: int, contract: str) -> bytes:
        """Return the transaction's calldata where it calls that contract."""
        return self._transaction.calldata if self._transaction.recipient == contract else b""

    def _list_coin_movements(self) -> Iterator[Movement]:
        sent = self._transaction
        if sent.value and sent.recipient is not None:
            yield Movement(
                token_address=NATIVE_ADDRESS, sender=sent.sender, recipient=sent.recipient, amount=sent.value,
                index=COIN_TRANSFER, place=0,
            )  # fmt: skip
        coin = decode_coin(self._chain_id, sent, self._tokens)
        if coin is not None:
            yield coin

    def _is_paid_by_call(self, decoded: DecodedPayment, movement: Movement) -> bool:
        """Whether this is the only movement to a recipient, just what the call pays, and all is the sender's money."""
        if decoded.is_deposit or not self._is_spending_own(self._things):
            return False
        paid = (decoded.token_address, decoded.recipient, decoded.amount)
        received = [row for row in self.movements if row.recipient in self._recipients]
        return received == [movement] and paid == (movement.token_address, movement.recipient, movement.amount)

    def _is_spending_own(self, things: Sequence[Movement]) -> bool:
        """Whether every token in the receipt, and these things, came from the sender, or from what is listed."""
        return self._is_open and all(
            row.sender == self._transaction.sender or row.sender in self._listed for row in (*self._tokens, *things)
        )

    def _is_holders(self, movement: Movement) -> bool:
        """Whether nothing but this moved, and the transaction calls its holder, or has the token do what he signed."""
        sent = self._transaction
        things = [
            row for row in self._things if not (row.is_named and movement.sender in (row.token_address, row.sender))
        ]
        is_all = (
            list(self._tokens) == [movement] and not things and not sent.value and movement.sender not in self._listed
        )
        is_authorized = sent.recipient == movement.token_address and is_authorization(sent.calldata, movement.sender)
        return is_all and (sent.recipient == movement.sender or is_authorized)

    def _prove_holder(self, movement: Movement) -> PayerProof:
        """Return who paid if that is certain, and what the transaction's own call names, whosever the money was."""
        sent = self._transaction
        tail = sent.calldata[-REFERENCE_BYTES:]
        named = (Naming(reference=tail, is_own=False, caller=sent.sender),) if len(tail) == REFERENCE_BYTES else ()
        if self._is_holders(movement):
            others = () if is_authorization(sent.calldata, movement.sender) else (sent.sender,)
            return PayerProof(namings=named, sender=movement.sender, others=others)
        people = {sent.sender, sent.recipient or "", *(row.sender for row in (*self._tokens, *self._things))}
        people -= {"", ZERO_ADDRESS, *self._listed.contracts}
        return PayerProof(namings=named, others=tuple(sorted(people))[:MOST_LOSERS])

    def _prove_own(self, reference: bytes) -> PayerProof:
        sender = self._transaction.sender
        namings = (Naming(reference=reference, is_own=True, caller=sender),) if reference else ()
        return PayerProof(namings=namings, sender=sender)


def decode_call(chain_id: int, transaction: ChainTransaction) -> DecodedPayment | None:
    """Return what a transaction's own call of a listed contract pays; see `decode_payment`."""
    if transaction.recipient is None:
        return None
    return decode_payment(chain_id, transaction.recipient, transaction.calldata)


def decode_coin(chain_id: int, transaction: ChainTransaction, tokens: Sequence[Movement]) -> Movement | None:
    """Return the coin that a router paid by a transaction's own call, of just the amount that the call says.

    A router that unwraps may have held more, and then sends all of it: that only a trace shows.

    Parameters
    ----------
    tokens : sequence of Movement
        What events tell of in the transaction.
    """
    said = decode_call(chain_id, transaction)
    if said is None or said.is_deposit or said.token_address != NATIVE_ADDRESS or not said.amount:
        return None
    wrapper = find_wrapped_coin(chain_id)
    unwrapping = (wrapper, said.contract, wrapper)
    unwrapped = sum(row.amount for row in tokens if (row.token_address, row.sender, row.recipient) == unwrapping)
    if said.is_unwrapped and unwrapped != said.amount:
        return None
    return Movement(
        token_address=NATIVE_ADDRESS, sender=said.contract, recipient=said.recipient, amount=said.amount,
        index=FIRST_INNER_TRANSFER, place=max((row.place for row in tokens), default=0) + 1,
    )  # fmt: skip


def find_token_transfer_tail(transaction: ChainTransaction, receipt: Receipt) -> bytes | None:
    """Return what stands behind the arguments of a token's ``transfer``, or None if the transaction is something else.

    The call must say just what the receipt's only transfer does.
    """
    found = TRANSFER.read(transaction.calldata)
    transfers = [log for log in receipt.logs if is_transfer(log)]
    if found is None or len(transfers) != 1 or len(found[1]) not in (0, REFERENCE_BYTES):
        return None
    (log,) = transfers
    sender, recipient = (f"0x{topic[-40:]}" for topic in log.topics[1:])
    done = (log.address, sender, recipient, int.from_bytes(log.data))
    return found[1] if done == (transaction.recipient, transaction.sender, *found[0]) else None


def is_simple(chain_id: int, transaction: ChainTransaction, receipt: Receipt) -> bool:
    """Whether a transaction's calldata says all: it sends coin to somebody, or a listed token, and does nothing else.

    No trace has more to say of it.
    """
    if transaction.value:
        is_sent = len(transaction.calldata) in (0, REFERENCE_BYTES)
        return is_sent and all(is_chains_own(log.address) for log in receipt.logs)
    is_listed = token_registry.info_of(chain_id, transaction.recipient or "") is not None
    return is_listed and find_token_transfer_tail(transaction, receipt) is not None
