"""What pools and vaults pay out, and in which call it is paid for.

Of what a pool pays out, only its swaps are. Fees and positions are somebody's already, and no token's event says that
he has less of them.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence

from adapters.rpc.abi import SELECTOR_BYTES, Log
from adapters.transactions.intermediaries import VaultCall
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import Movement
from api.services.ledger.evidence.traces import CALL, CallTree, Frame, find_calls_around


def find_earned(
    tree: CallTree, movements: Sequence[Movement], logs: Sequence[Log], listed: Listed
) -> Mapping[int, Sequence[Movement]]:
    """Return what markets paid out for what they were given, by the smallest call that has both.

    A pool's call that writes that it swapped pays for what leaves it in that call, with what it was given since its
    swap before: whoever calls it with what others gave it, pays with theirs. Of a vault it is a whole session.

    Parameters
    ----------
    movements : sequence of Movement
        All that moved in the transaction.
    logs : sequence of Log
        The receipt's.
    listed : Listed
        Whose payments are asked about.
    """
    found: dict[int, list[Movement]] = defaultdict(list)
    paid = [row for row in movements if row.sender in listed.keepers and not row.is_thing]
    if not paid:
        return found
    ends = _find_ends(tree)
    swaps = _find_swaps(tree, movements, logs, listed, ends) if listed.pools else {}
    sessions = _find_sessions(tree, listed, ends)
    for row in paid:
        if row.sender in listed.pools:
            place = swaps.get(_find_call_of(tree, row), -1)
        else:
            place = sessions[row.sender].find(row.frame)
        if place >= 0:
            found[place].append(row)
    return found


class _Sessions:
    """Sessions of a vault, each with the number of the first call after it."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.calls: list[list[VaultCall]] = []
        self.are_trades: list[bool] = []

    def find(self, frame: int) -> int:
        """Return the session of nothing but trades that a call is part of, or -1."""
        place = bisect(self.begins, frame) - 1
        is_within = place >= 0 and frame < self.ends[place] and self.are_trades[place]
        return self.begins[place] if is_within else -1


def _find_sessions(tree: CallTree, listed: Listed, ends: Sequence[int]) -> Mapping[str, _Sessions]:
    found = {address: _Sessions() for address in listed.vaults}
    for number, frame in enumerate(tree.frames):
        if frame.kind != CALL or frame.is_undone or frame.recipient not in found:
            continue
        sessions = found[frame.recipient]
        if sessions.ends and number < sessions.ends[-1]:
            sessions.calls[-1].append(_make_call(frame))
        elif frame.calldata[:SELECTOR_BYTES] in listed.vaults[frame.recipient].sessions:
            sessions.begins.append(number)
            sessions.ends.append(ends[number])
            sessions.calls.append([_make_call(frame)])
    for address, sessions in found.items():
        sessions.are_trades = [listed.vaults[address].is_trade(calls) for calls in sessions.calls]
    return found


def _make_call(frame: Frame) -> VaultCall:
    return VaultCall(sender=frame.sender, value=frame.value, calldata=frame.calldata)


def _find_swaps(
    tree: CallTree, movements: Sequence[Movement], logs: Sequence[Log], listed: Listed, ends: Sequence[int]
) -> Mapping[int, int]:
    """Return the pools' calls that swapped, each with the smallest call that has all that the pool was given for it."""
    given: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in movements:
        if row.recipient in listed.pools and not row.is_thing:
            given[row.recipient].append((row.place, row.frame))
    calls, used, found = find_calls_around(tree), defaultdict[str, int](int), dict[int, int]()
    for rows in given.values():
        rows.sort()
    for place, log in enumerate(logs):
        if log.address not in listed.pools or log.topics[:1] != (listed.pools[log.address],):
            continue
        number, rows, first = calls[tree.frame_of_log[place]], given[log.address], used[log.address]
        used[log.address] = last = bisect(rows, (place, -1))
        frames = [frame for _, frame in rows[first:last]]
        if frames and tree.frames[number].recipient == log.address:
            found[number] = _find_smallest(tree, number, min(frames), max(frames), ends)
    return found


def _find_smallest(tree: CallTree, number: int, first: int, last: int, ends: Sequence[int]) -> int:
    """Return the innermost call around one that has all calls from the first to the last."""
    while not number <= first <= last < ends[number]:
        number = tree.frames[number].parent
    return number


def _find_call_of(tree: CallTree, movement: Movement) -> int:
    """Return the innermost call of whoever paid something around the payment; -1 where there is none."""
    number = movement.frame
    while number >= 0:
        frame = tree.frames[number]
        if frame.kind == CALL and frame.recipient == movement.sender:
            return number
        number = frame.parent
    return -1


def _find_ends(tree: CallTree) -> list[int]:
    """Return of each call the number of the first that is no longer within it."""
    ends = [number + 1 for number in range(len(tree.frames))]
    for number in range(len(ends) - 1, 0, -1):
        parent = tree.frames[number].parent
        ends[parent] = max(ends[parent], ends[number])
    return ends
