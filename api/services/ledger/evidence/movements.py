"""Tokens and coin that moved within a transaction, and whose balances fell in each of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from eth_utils.crypto import keccak

from adapters.rpc.abi import WORD, Log
from api.domain.transfers import COIN_TRANSFER, FIRST_INNER_TRANSFER
from api.services.ledger.evidence.traces import CallTree
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS

TRANSFER_TOPIC = "0x" + keccak(text="Transfer(address,address,uint256)").hex()
TRANSFER_TOPICS = 3
"""A transfer of a thing that can't be divided has its number as the fourth."""
WRAPPED = "0x" + keccak(text="Deposit(address,uint256)").hex()
UNWRAPPED = "0x" + keccak(text="Withdrawal(address,uint256)").hex()
WRAPPING_TOPICS = 2

MOST_LOSERS = 32
LAST_PRECOMPILE = 0xFFFF
"""Some nodes leave calls of these contracts out of traces."""


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

    Those of inner calls are numbered as they come, since nodes differ in what other calls they tell of.
    """
    index = FIRST_INNER_TRANSFER
    for number, frame in enumerate(tree.frames):
        if not frame.value or frame.is_undone or int(frame.recipient or "0x0", 16) <= LAST_PRECOMPILE:
            continue
        index -= number > 0
        yield Movement(
            token_address=NATIVE_ADDRESS, sender=frame.sender, recipient=frame.recipient, amount=frame.value,
            index=index if number else COIN_TRANSFER, place=frame.logs_before, frame=number,
        )  # fmt: skip


class _Balances:
    """By how much balances rose and fell, and who has less of something than before.

    Whose money somebody else had moved lost it, whatever else they received: a stranger who hands them what they were
    owed may take another payment of theirs for his.
    """

    __slots__ = ("_changes", "_listed", "_losses", "_pulled", "losers")

    def __init__(self, listed: Collection[str]) -> None:
        self._changes: dict[tuple[str, str], int] = {}
        self._losses: dict[str, int] = defaultdict(int)
        self._pulled: dict[str, None] = {}
        self._listed = listed
        self.losers: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def move(self, movements: Iterable[Movement]) -> None:
        for row in movements:
            self._add(row.token_address, row.sender, -row.amount)
            if row.is_pulled:
                self._pull(row.sender)
            self._add(row.token_address, row.recipient, row.amount)

    def absorb(self, other: _Balances) -> None:
        for (token, holder), amount in other._changes.items():
            self._add(token, holder, amount)
        for holder in other._pulled:
            self._pull(holder)

    def forget_gains(self) -> None:
        self._changes = {key: amount for key, amount in self._changes.items() if amount < 0}

    def _pull(self, holder: str) -> None:
        if holder not in self._pulled and holder not in self._listed:
            self._pulled[holder] = None
            self._losses[holder] += 1
            self.losers[holder] = None

    def _add(self, token: str, holder: str, amount: int) -> None:
        before = self._changes.get((token, holder), 0)
        self._changes[token, holder] = after = before + amount
        if (before < 0) == (after < 0) or holder in self._listed:
            return
        self._losses[holder] += 1 if after < 0 else -1
        if self._losses[holder]:
            self.losers[holder] = None
        else:
            del self.losers[holder]


def find_losers(
    tree: CallTree,
    movements: Sequence[Movement],
    *,
    listed: Collection[str],
    bridges: Collection[int],
    wanted: Collection[int],
    whole: Collection[int] = (),
) -> Mapping[int, tuple[str, ...]]:
    """Return whose balance of anything fell in each of the wanted calls, calls within them included.

    At most two are named, since more make no difference, and of those in `whole` as many as `MOST_LOSERS`. Calls are
    gone through from the last to the first, and of two sums the smaller is added to the larger, so the work grows a
    little faster than the trace, however deep it is.

    Parameters
    ----------
    listed : collection of str
        Addresses that do not count.
    bridges : collection of int
        Calls of bridges' contracts. What somebody has more after one may be what they were owed, and makes up for
        nothing that they lose around it.
    wanted : collection of int
        Calls that are asked about.
    whole : collection of int
        Those of them of which more are named.
    """
    by_frame: dict[int, list[Movement]] = defaultdict(list)
    for movement in movements:
        by_frame[movement.frame].append(movement)
    sums: dict[int, _Balances] = {}
    found: dict[int, tuple[str, ...]] = {}
    for number in range(len(tree.frames) - 1, -1, -1):
        balances = sums.pop(number, None)
        if number in by_frame:
            balances = _Balances(listed) if balances is None else balances
            balances.move(by_frame[number])
        if number in wanted:
            found[number] = (
                () if balances is None else tuple(islice(balances.losers, MOST_LOSERS if number in whole else 2))
            )
        if balances is not None:
            if number in bridges:
                balances.forget_gains()
            _pass_on(sums, tree.frames[number].parent, balances)
    return found


def _pass_on(sums: dict[int, _Balances], parent: int, balances: _Balances) -> None:
    other = sums.get(parent)
    if other is None:
        sums[parent] = balances
        return
    small, large = sorted((balances, other), key=len)
    large.absorb(small)
    sums[parent] = large
