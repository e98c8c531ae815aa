"""Whose balances fell in each of a transaction's calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import Movement
from api.services.ledger.evidence.traces import CALL, CallTree

BORROWING = frozenset({"DELEGATECALL", "CALLCODE"})
"""Another contract's code runs, and whoever calls it acts."""
MOST_LOSERS = 32
SPARE_PARTS = 100
"""Of what a router spends in a call, such a part may have lain there before, from whomever: not to be worth a thief's
while, nor to let a stranger's speck spoil a payment. Of the whole transaction all may, since anybody may take it."""


class _Balances:
    """By how much balances rose and fell, and who has less of something than before.

    Whose money somebody else had moved lost it, whatever else they received: a stranger who hands them what they were
    owed may take another payment of theirs for his. So did who spent more in a call of his own than came to him in it
    (`end_visit`). What a pool or a vault is given makes up for nothing but what it earned by it (`give_back`).
    """

    __slots__ = ("_changes", "_listed", "_losses", "_named", "_pulled", "_spent", "losers")

    def __init__(self, listed: Listed) -> None:
        self._changes: dict[tuple[str, str], int] = {}
        self._spent: dict[tuple[str, str], int] = {}
        self._losses: dict[str, int] = defaultdict(int)
        self._pulled: dict[str, None] = {}
        self._named: dict[str, dict[str, None]] = {}
        self._listed = listed
        self.losers: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._changes) + len(self._named)

    def move(self, movements: Iterable[Movement]) -> None:
        for row in movements:
            if row.is_named:
                self._name(row.token_address, (row.sender,))
                continue
            self._add((row.token_address, row.sender), -row.amount, row.amount)
            if row.is_pulled:
                self._pull(row.sender)
            if row.recipient not in self._listed.keepers:
                self._add((row.token_address, row.recipient), row.amount)

    def give_back(self, earned: Iterable[Movement]) -> None:
        """Let markets have back what they earned by what they were given."""
        for row in earned:
            self._add((row.token_address, row.sender), row.amount)

    def end_visit(self, account: str) -> None:
        """Let what an account spent in a call of its own, beyond what it was given there, be lost for good.

        Contracts that keep many people's money in one pot do not say whose it is that they pay out.
        """
        if self._losses.get(account):
            self._pull(account)

    def absorb(self, other: _Balances) -> None:
        for key, amount in other._changes.items():
            self._add(key, amount, other._spent.get(key, 0))
        for holder in other._pulled:
            self._pull(holder)
        for writer, accounts in other._named.items():
            self._name(writer, accounts)

    def forget_gains(self) -> None:
        self._changes = {key: amount for key, amount in self._changes.items() if amount < 0}

    def list_losers(self, most: int, *, is_all: bool) -> tuple[str, ...]:
        """Return who lost something, then whom events name that none of them wrote: they may have sold something."""
        passing = self._listed.passing if is_all else ()
        lost = tuple(islice((each for each in self.losers if each not in passing), most))
        return (*lost, *islice(self._list_named(lost), most - len(lost))) if lost else ()

    def _list_named(self, lost: Collection[str]) -> Iterator[str]:
        seen = set(lost)
        for writer, accounts in self._named.items():
            if writer not in lost:
                yield from (each for each in accounts if each not in seen)
                seen.update(accounts)

    def _name(self, writer: str, accounts: Iterable[str]) -> None:
        named = self._named.setdefault(writer, {})
        for account in accounts:
            if len(named) < MOST_LOSERS:
                named[account] = None

    def _pull(self, holder: str) -> None:
        if holder not in self._pulled and holder not in self._listed.contracts:
            self._pulled[holder] = None
            self._losses[holder] += 1
            self.losers[holder] = None

    def _add(self, key: tuple[str, str], amount: int, spent: int = 0) -> None:
        holder = key[1]
        if holder in self._listed.owing:
            return
        had = self._changes.get(key, 0)
        self._changes[key] = has = had + amount
        before, after = had < 0, has < 0
        if holder in self._listed.passing:
            before = -had * SPARE_PARTS > self._spent.get(key, 0)
            self._spent[key] = spent = spent + self._spent.get(key, 0)
            after = -has * SPARE_PARTS > spent
        if before == after:
            return
        self._losses[holder] += 1 if after else -1
        if self._losses[holder]:
            self.losers[holder] = None
        else:
            del self.losers[holder]


def find_losers(
    tree: CallTree,
    movements: Sequence[Movement],
    *,
    listed: Listed,
    earned: Mapping[int, Sequence[Movement]],
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
    listed : Listed
        What money passes through.
    earned : mapping of int to sequence of Movement
        See `find_earned`.
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
    visits = _find_visits(tree, listed)
    found: dict[int, tuple[str, ...]] = {}
    for number in range(len(tree.frames) - 1, -1, -1):
        balances = sums.pop(number, None)
        if number in by_frame:
            balances = _Balances(listed) if balances is None else balances
            balances.move(by_frame[number])
        if balances is not None:
            balances.give_back(earned.get(number, ()))
            if visits[number]:
                balances.end_visit(tree.frames[number].recipient)
        if number in wanted:
            most = MOST_LOSERS if number in whole else 2
            found[number] = () if balances is None else balances.list_losers(most, is_all=number == 0)
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


def _find_visits(tree: CallTree, listed: Listed) -> list[bool]:
    """Return of each call whether a contract is asked for something: by another one, or by itself as for several.

    What a market or a router calls back for belongs to what it was asked for.
    """
    found: list[bool] = []
    accounts: list[str] = []
    begins: list[int] = []
    for number, frame in enumerate(tree.frames):
        account = frame.sender if frame.kind in BORROWING else frame.recipient
        is_same = frame.parent >= 0 and accounts[frame.parent] == account
        accounts.append(account)
        begins.append(begins[frame.parent] if is_same else number)
        is_back = frame.parent >= 0 and tree.frames[begins[frame.parent]].sender == frame.recipient
        is_visit = frame.kind == CALL and not (is_back and frame.sender in listed)
        found.append(is_visit or frame.sender == frame.recipient)
    return found
