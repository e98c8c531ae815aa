"""From a transaction and its receipt to the transfers that matter: tokens, the chain's coin, what bridges did."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from eth_utils.crypto import keccak

from adapters.chain.abi import WORD, Log
from api.domain.ledger import COIN_TRANSFER, Block, Transfer, TransferKind
from api.services.chain_ledger_bridges import Bridge, BridgeEvent, Delivery, Deposit, GivenBack
from api.services.chain_ledger_records import ChainTransaction, Receipt, references_in
from routing_engine.chains import CHAINS
from routing_engine.model import NATIVE_ADDRESS

TRANSFER_TOPIC = "0x" + keccak(text="Transfer(address,address,uint256)").hex()
TRANSFER_TOPICS = 3
"""A transfer of a thing that can't be divided has its number as the fourth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A successful transaction in its block, with what it left behind."""

    chain_id: int
    block: Block
    transaction: ChainTransaction
    receipt: Receipt


def transfers_of(mined: Mined, recipients: Collection[str], bridges: Sequence[Bridge]) -> list[Transfer]:
    """Return what the transaction moved to `recipients`, and what it put into bridges, in the order of its events."""
    references = references_in(mined.transaction.calldata)
    payer = _payer(mined)
    found: dict[int, Transfer] = {}
    for log in mined.receipt.logs:
        moved = _token_transfer(mined, log)
        if moved is not None and moved.recipient in recipients:
            sender = moved.sender if payer is None else payer
            found[log.index] = replace(moved, references=references, sender=sender)
    coin = _coin_transfer(mined)
    if coin is not None and coin.recipient in recipients:
        found[COIN_TRANSFER] = replace(coin, references=references)
    for index, event in _bridge_events(mined, bridges):
        if isinstance(event, Deposit):
            deposit = _deposit(mined, index, event, references, payer)
            if references or event.recipient in recipients:
                found[index] = deposit
        elif isinstance(event, GivenBack):
            _mark_given_back(mined, found, event)
        elif event.recipient in recipients:
            _mark_delivered(mined, found, index, event)
    return [found[index] for index in sorted(found)]


def coin_paid_out(mined: Mined, index: int, recipient: str, amount: int, references: tuple[bytes, ...]) -> Transfer:
    """Return the transfer of coin that a contract made in a transaction, beside the event `index`."""
    moved = _transfer(mined, index, TransferKind.PAYMENT, NATIVE_ADDRESS, mined.transaction.sender, recipient, amount)
    return replace(moved, references=references)


def topic_of(address: str) -> str:
    """Return an address as an event's topic."""
    return "0x" + "00" * 12 + address[2:]


def _token_transfer(mined: Mined, log: Log) -> Transfer | None:
    if len(log.topics) != TRANSFER_TOPICS or log.topics[0] != TRANSFER_TOPIC or len(log.data) != WORD:
        return None
    amount = int.from_bytes(log.data)
    if amount == 0:
        return None  # such transfers are made to put look-alike addresses into people's histories
    sender, recipient = ("0x" + topic[-40:] for topic in log.topics[1:])
    return _transfer(mined, log.index, TransferKind.PAYMENT, log.address, sender, recipient, amount)


def _coin_transfer(mined: Mined) -> Transfer | None:
    sent = mined.transaction
    if not sent.value or sent.recipient is None:
        return None
    return _transfer(
        mined, COIN_TRANSFER, TransferKind.PAYMENT, NATIVE_ADDRESS, sent.sender, sent.recipient, sent.value
    )


def _deposit(mined: Mined, index: int, event: Deposit, references: tuple[bytes, ...], payer: str | None) -> Transfer:
    moved = _transfer(
        mined, index, TransferKind.DEPOSIT, event.token_address, event.sender, event.contract, event.amount
    )
    sender = event.sender if event.sender != event.contract else payer or event.sender
    return replace(
        moved, sender=sender, references=references, bridge_id=event.bridge_id, fill_deadline=event.fill_deadline
    )


def _mark_given_back(mined: Mined, found: dict[int, Transfer], event: GivenBack) -> None:
    senders = {log.index: "0x" + log.topics[1][-40:] for log in mined.receipt.logs if len(log.topics) > 1}
    for index, moved in found.items():
        if moved.kind == TransferKind.PAYMENT and senders.get(index) == event.contract:
            found[index] = replace(moved, kind=TransferKind.BRIDGE_REFUND, sender=event.contract, references=())


def _mark_delivered(mined: Mined, found: dict[int, Transfer], index: int, event: Delivery) -> None:
    """Name the deposit that a delivery answers: the nearest transfer of just this amount, or coin without a trace."""
    fits = [
        place
        for place, moved in found.items()
        if moved.kind == TransferKind.PAYMENT
        and not moved.bridge_id
        and (moved.token_address, moved.recipient, moved.amount) == (event.token_address, event.recipient, event.amount)
    ]
    if fits:
        nearest = min(fits, key=lambda place: abs(place - index))
        # A relayer's calldata is the relayer's business: only the bridge says whose money this is.
        found[nearest] = replace(found[nearest], bridge_id=event.bridge_id, references=())
    elif _pays_coin(mined.chain_id, event.token_address):
        moved = _transfer(
            mined, index, TransferKind.PAYMENT, NATIVE_ADDRESS, mined.transaction.sender, event.recipient, event.amount
        )
        found[index] = replace(moved, bridge_id=event.bridge_id)


def _pays_coin(chain_id: int, token_address: str) -> bool:
    """Whether a bridge pays the chain's coin for a token: the coin itself, or the token that wraps it."""
    chain = CHAINS.get(chain_id)
    return token_address == NATIVE_ADDRESS or (chain is not None and token_address == chain.wrapped_native)


def _payer(mined: Mined) -> str | None:
    """Return who paid, whichever contracts it went through; None where that is whoever the token says.

    Whoever signed the transaction, if their coin or tokens went into it. A bundle's signer put none in: then it is
    whoever the first tokens in it came from.
    """
    sent = mined.transaction
    moves = [moved for log in mined.receipt.logs if (moved := _token_transfer(mined, log)) is not None]
    if sent.value or any(moved.sender == sent.sender for moved in moves):
        return sent.sender
    return moves[0].sender if moves and sent.recipient not in {moved.token_address for moved in moves} else None


def _bridge_events(mined: Mined, bridges: Sequence[Bridge]) -> Iterator[tuple[int, BridgeEvent]]:
    for log in mined.receipt.logs:
        for bridge in bridges:
            if log.address in bridge.contracts and log.topics[:1] and log.topics[0] in bridge.topics:
                yield log.index, bridge.read(log)


def _transfer(
    mined: Mined, index: int, kind: TransferKind, token: str, sender: str, recipient: str, amount: int
) -> Transfer:
    return Transfer(
        kind=kind,
        chain_id=mined.chain_id,
        block=mined.block,
        tx_hash=mined.transaction.tx_hash,
        log_index=index,
        token_address=token,
        sender=sender,
        recipient=recipient,
        amount=amount,
    )
