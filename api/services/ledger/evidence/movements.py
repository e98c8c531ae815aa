"""Tokens and coin that moved within a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eth_utils.crypto import keccak

from adapters.rpc.abi import WORD, Log
from api.domain.transfers import COIN_TRANSFER, FIRST_INNER_TRANSFER
from api.services.ledger.evidence.traces import CallTree, is_chains_own
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS

TRANSFER_TOPIC = "0x" + keccak(text="Transfer(address,address,uint256)").hex()
TRANSFER_TOPICS = 3
"""A transfer of a thing that can't be divided has its number as the fourth."""
WRAPPED = "0x" + keccak(text="Deposit(address,uint256)").hex()
UNWRAPPED = "0x" + keccak(text="Withdrawal(address,uint256)").hex()
WRAPPING_TOPICS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """An amount of a token, or of the coin, that went from one address to another.

    Parameters
    ----------
    token_address, sender, recipient, amount : str, str, str and int
        What went from whom to whom.
    index : int
        See `api.domain.ledger.Transfer.log_index`.
    place : int
        How many of the receipt's logs were written before; of an event, its own place among them.
    frame : int
        In which call of a trace; 0 without one.
    is_wrapping : bool
        Whether somebody only had coin wrapped or unwrapped.
    is_pulled : bool
        Whether somebody else had it moved, whom the sender allowed to: by an allowance or a signature.
    is_of_bridge : bool
        Whether it happened in a call of a bridge's contract.
    is_thing : bool
        Whether it is no money: see `things.py`.
    is_named : bool
        Whether it is no more than that an event names the sender: see `things.py`.
    """

    token_address: str
    sender: str
    recipient: str
    amount: int
    index: int
    place: int
    frame: int = 0
    is_wrapping: bool = False
    is_pulled: bool = False
    is_of_bridge: bool = False
    is_thing: bool = False
    is_named: bool = False


def find_wrapped_coin(chain_id: int) -> str:
    """Return the contract that wraps a chain's coin; empty where it is not known."""
    chain = CHAINS.get(chain_id)
    return "" if chain is None else chain.wrapped_native


def is_transfer(log: Log) -> bool:
    """Whether a log is an ERC-20 token's transfer of more than nothing.

    Transfers of nothing are made to put look-alike addresses into people's histories.
    """
    is_event = len(log.topics) == TRANSFER_TOPICS and log.topics[0] == TRANSFER_TOPIC
    return is_event and len(log.data) == WORD and any(log.data)


def list_token_movements(chain_id: int, logs: Sequence[Log], frames: Sequence[int] = ()) -> Iterator[Movement]:
    """Yield what events tell of: transfers, and what was wrapped and unwrapped.

    The wrapped coin comes from its contract and goes back there: what it makes of coin is nobody's loss.
    """
    wrapper = find_wrapped_coin(chain_id)
    for place, log in enumerate(logs):
        if is_transfer(log):
            sender, recipient = (f"0x{topic[-40:]}" for topic in log.topics[1:])
            if log.address == wrapper:
                sender, recipient = (wrapper if each == ZERO_ADDRESS else each for each in (sender, recipient))
        elif log.address == wrapper and len(log.topics) == WRAPPING_TOPICS and len(log.data) == WORD:
            person = f"0x{log.topics[1][-40:]}"
            if log.topics[0] not in (WRAPPED, UNWRAPPED):
                continue
            sender, recipient = (wrapper, person) if log.topics[0] == WRAPPED else (person, wrapper)
        else:
            continue
        yield Movement(
            token_address=log.address, sender=sender, recipient=recipient, amount=int.from_bytes(log.data),
            index=place, place=place, frame=frames[place] if frames else 0,
            is_wrapping=len(log.topics) == WRAPPING_TOPICS,
        )  # fmt: skip


def list_coin_movements(tree: CallTree) -> Iterator[Movement]:
    """Yield the coin that calls sent along, that went into new contracts and that destroyed ones left.

    Those of inner calls are numbered as they come, since nodes differ in what other calls they tell of: some leave out
    those of the chain's own contracts.
    """
    index = FIRST_INNER_TRANSFER
    for number, frame in enumerate(tree.frames):
        if not frame.value or frame.is_undone or is_chains_own(frame.recipient or "0x0"):
            continue
        index -= number > 0
        yield Movement(
            token_address=NATIVE_ADDRESS, sender=frame.sender, recipient=frame.recipient, amount=frame.value,
            index=index if number else COIN_TRANSFER, place=frame.logs_before, frame=number,
        )  # fmt: skip


def leave_out_points(movements: Iterable[Movement], is_kept: Callable[[Movement], bool]) -> list[Movement]:
    """Return what moved without what came into being and went no further: points, receipts, a bonus.

    They are nobody's loss. What comes into being and is sent on may have been owed to somebody, as may what is made for
    a merchant, or for a contract that passes on what it gets: that `is_kept`.
    """
    rows = list(movements)
    moved = {row.token_address for row in rows if row.sender != ZERO_ADDRESS or is_kept(row)}
    return [row for row in rows if row.sender != ZERO_ADDRESS or row.token_address in moved]
