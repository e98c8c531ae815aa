"""Solutions as the JSON of a solver engine's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from routing_engine.auction.model import Fulfillment, Solution
from routing_engine.model import Hop


def write_solutions(solutions: Sequence[Solution]) -> dict[str, Any]:
    """Return the answer's JSON: amounts and prices are digit strings, ids the places of the solutions."""
    return {"solutions": [_write_solution(number, solution) for number, solution in enumerate(solutions)]}


def _write_solution(number: int, solution: Solution) -> dict[str, Any]:
    return {
        "id": number,
        "prices": {token.address: str(price) for token, price in solution.prices.items()},
        "trades": [_write_trade(trade) for trade in solution.trades],
        "preInteractions": [],
        "interactions": [_write_interaction(hop) for hop in solution.hops],
        "postInteractions": [],
        "gas": solution.gas,
    }


def _write_trade(trade: Fulfillment) -> dict[str, str]:
    written = {"kind": "fulfillment", "order": trade.order.uid, "executedAmount": str(trade.executed)}
    return {**written, "fee": str(trade.fee)} if trade.order.pays_gas or trade.fee else written


def _write_interaction(hop: Hop) -> dict[str, Any]:
    return {
        "kind": "liquidity",
        "internalize": False,
        "id": hop.market_id,
        "inputToken": hop.token_in.address,
        "outputToken": hop.token_out.address,
        "inputAmount": str(hop.amount_in),
        "outputAmount": str(hop.amount_out),
    }
