"""A Bellman–Ford search that carries amounts, one label a token, net of gas: Fynd's single path."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.peers.fynd.board import UNTOUCHED, Board, States, Step, Way
from routing_engine import Market, Token


@dataclass(frozen=True, slots=True)
class _Label:
    """The most of a token that was reached: amount, gas units so far, and the way."""

    amount: int
    gas: int
    way: Way


Outgoing = dict[Token, list[Step]]


def list_steps(markets: Iterable[Market]) -> Outgoing:
    """Return every direction of every market by the token it sells."""
    found: Outgoing = {}
    for market in markets:
        for token_in, token_out in market.edges():
            found.setdefault(token_in, []).append((market.id, token_in, token_out))
    return found


def count_hops(steps: Outgoing, target: Token) -> dict[Token, int]:
    """Return how many hops each token is away from the target."""
    incoming: dict[Token, list[Token]] = {}
    for token, leaving in steps.items():
        for _, _, other in leaving:
            incoming.setdefault(other, []).append(token)
    far, waiting = {target: 0}, deque([target])
    while waiting:
        token = waiting.popleft()
        for before in incoming.get(token, []):
            if before not in far:
                far[before] = far[token] + 1
                waiting.append(before)
    return far


def find_path(
    board: Board, steps: Outgoing, amount: int, max_hops: int, states: States = UNTOUCHED,
    free: frozenset[Step] = frozenset(),
) -> Way:  # fmt: skip
    """Return the way that nets most for an amount, by rounds of relaxation; empty if there is none.

    Each round extends the tokens that the round before improved, as that round left them: in which order Fynd extends
    them is not said. A way comes to no token and no market twice.

    Parameters
    ----------
    board : Board
        Markets and gas.
    steps : dict
        As `list_steps` gives them.
    amount : int
        Smallest units sold.
    max_hops : int
        Rounds.
    states : mapping
        Markets that have moved.
    free : frozenset of Step
        Swaps whose gas is paid for already.
    """
    source, target = board.request.token_in, board.request.token_out
    far = count_hops(steps, target)
    labels = {source: _Label(amount, 0, ())}
    active = [source]
    for number in range(max_hops):
        improved: dict[Token, None] = {}
        for label in [labels[token] for token in active]:
            token = label.way[-1][2] if label.way else source
            for step in steps.get(token, []):
                other = step[2]
                if far.get(other, max_hops) > max_hops - number - 1 or _is_on(label.way, step, source):
                    continue
                swapped = board.swap(step, label.amount, states)
                if swapped is None:
                    continue
                gas = label.gas + (0 if step in free else swapped[1])
                known = labels.get(other)
                if known and _net(board, other, swapped[0], gas) <= _net(board, other, known.amount, known.gas):
                    continue
                labels[other] = _Label(swapped[0], gas, (*label.way, step))
                improved[other] = None
        active = [token for token in improved if token != target]
    return labels[target].way if target in labels else ()


def _net(board: Board, token: Token, amount: int, gas: int) -> float:
    return amount - board.value_gas(gas, token)


def _is_on(way: Way, step: Step, source: Token) -> bool:
    """Whether a way has been at a step's market, or at the token that it buys."""
    return step[2] == source or any(step[0] == market or step[2] == token for market, _, token in way)
