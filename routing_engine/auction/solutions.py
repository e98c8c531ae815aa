"""Solutions from drafts: protocol fees, the last checks, and the score."""

from __future__ import annotations

from collections.abc import Sequence

from routing_engine.auction.gas import SETTLEMENT_GAS, TRADE_GAS, GasTerms
from routing_engine.auction.model import Solution
from routing_engine.auction.settlement import charge_policies, execute, fits, keeps_limit, score_trade
from routing_engine.auction.singles import Draft
from routing_engine.model import Token

Direction = tuple[Token, Token]
"""A directed pair: what is sold, and what is bought."""


def build_solution(drafts: Sequence[Draft], terms: GasTerms) -> Solution | None:
    """Return the solution of drafts on different pairs, whose prices go together; None where it has no score.

    Protocol fees are taken here. A trade that cannot bear them is one that its owner, or the contract, would refuse:
    the whole solution is given up then.
    """
    prices = {token: price for draft in drafts for token, price in draft.prices.items()}
    trades, scores = [], []
    for draft in drafts:
        for trade in draft.trades:
            charged = charge_policies(trade, prices)
            score = score_trade(trade, prices, terms.reference, charged)
            if charged.executed <= 0 or not keeps_limit(charged.order, execute(charged, prices)):
                return None
            trades.append(charged)
            scores.append(score)
    hops = tuple(hop for draft in drafts for hop in draft.hops)
    if sum(scores) <= 0 or not fits(trades, prices):
        return None
    gas = SETTLEMENT_GAS + TRADE_GAS * len(trades) + sum(hop.gas for hop in hops)
    return Solution(prices=prices, trades=tuple(trades), scores=tuple(scores), hops=hops, gas=gas)


def score_directions(solution: Solution) -> dict[Direction, int]:
    """Return the score of each directed pair that a solution trades."""
    found: dict[Direction, int] = {}
    for trade, score in zip(solution.trades, solution.scores, strict=True):
        direction = trade.order.sell, trade.order.buy
        found[direction] = found.get(direction, 0) + score
    return found
