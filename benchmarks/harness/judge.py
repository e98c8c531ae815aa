"""One judge for all solvers: amounts by exact replay, gas by one model, gaps to one certificate."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.harness.answer import Answer
from benchmarks.harness.replay import BrokenAnswer, Fault, Ledger, run_merged
from routing_engine import Hop, QuoteRefused, Router, RouteRequest, RouteResult, Side, Snapshot
from routing_engine.fixed_point import BPS
from routing_engine.graph.gas_valuation import Valuation

BELIEVED = 1e-6
"""Part by which an answer may be above its bound, in the last digits of both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an answer gives. For an exact output, amounts are costs: less is better.

    Parameters
    ----------
    gross, net : int
        Smallest units before and after gas, by the better of the two replays.
    in_turn, merged : int or None
        Gross of the swaps as they stand, and with each market used once for all that passes through it; None where
        that cannot be done, or is the same.
    gas : int
        Gas units of the better replay.
    swaps : int
        Its swaps.
    claimed : int or None
        What the solver said that `gross` is.
    """

    gross: int
    net: int
    in_turn: int
    merged: int | None
    gas: int
    swaps: int
    claimed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What no route nets more than, or costs less than.

    Parameters
    ----------
    value : float or None
        Smallest units; None where nothing is proven.
    scope : str
        Of which routes it speaks, or why there is none.
    """

    value: float | None
    scope: str

    def find_gap(self, request: RouteRequest, verdict: Verdict) -> float | None:
        """Return by how many bps an answer can be from the best; at most 10,000, and None without a bound."""
        if self.value is None or self.value <= 0:
            return None
        if request.side == Side.EXACT_OUT:
            return max(0.0, 1 - self.value / verdict.net) * BPS
        return min(1.0, max(0.0, 1 - verdict.net / self.value)) * BPS

    def is_broken(self, request: RouteRequest, verdict: Verdict) -> bool:
        """Whether an answer is better than what was proven to be the best."""
        if self.value is None:
            return False
        slack = max(1.0, BELIEVED * self.value)
        if request.side == Side.EXACT_OUT:
            return verdict.net < self.value - slack
        return verdict.net > self.value + slack


class Judge:
    """Judges the answers to requests on one market.

    Parameters
    ----------
    snapshot : Snapshot
        The market. Its router values gas, and proves bounds; nothing else of it counts.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._router = Router(snapshot)

    def judge(self, request: RouteRequest, answer: Answer) -> Verdict | None:
        """Return what an answer gives; None where it says that there is no route.

        Raises
        ------
        BrokenAnswer
            If it cannot be carried out, or is no answer to the request.
        """
        if not answer.swaps and not answer.paths:
            return None
        ledger = Ledger(self._router.snapshot.markets, request)
        ledger.run(answer)
        in_turn = _judge_amount(request, ledger)
        found = [(in_turn, tuple(ledger.hops))]
        merged = self._merge(request, ledger)
        if merged:
            found.append(merged)
        gross, hops = min(found, key=lambda each: self._cost(request, *each))
        return Verdict(
            gross=gross, net=self._value(request, gross, hops), in_turn=in_turn, merged=merged[0] if merged else None,
            gas=sum(hop.gas for hop in hops), swaps=len(hops), claimed=answer.claimed,
        )  # fmt: skip

    def find_bound(self, request: RouteRequest) -> Bound:
        """Return what this engine proves of a request."""
        return read_bound(request, self._router.find_routes(request))

    def value_gas(self, request: RouteRequest) -> dict[int, float]:
        """Return what one unit of gas costs on each chain, in smallest units of the token that is not fixed."""
        graph = self._router.graph
        token = request.token_in if request.side == Side.EXACT_OUT else request.token_out
        price = float(graph.prices[graph.index[token]])
        costs = graph.gas_cost(self._gas_prices(request))
        if not price > 0:
            return {}
        return {chain: float(cost) / price for chain, cost in zip(graph.chains, costs, strict=True)}

    def _merge(self, request: RouteRequest, ledger: Ledger) -> tuple[int, tuple[Hop, ...]] | None:
        if len({hop.market_id for hop in ledger.hops}) == len(ledger.hops):
            return None
        try:
            hops = run_merged(self._router.snapshot.markets, request.token_in, tuple(ledger.hops))
        except QuoteRefused:
            return None
        if not hops:
            return None
        given = sum(hop.amount_out for hop in hops if hop.token_out == request.token_out)
        if request.side == Side.EXACT_IN:
            return given, hops
        return (ledger.spent, hops) if given >= request.amount else None

    def _value(self, request: RouteRequest, gross: int, hops: tuple[Hop, ...]) -> int:
        """Return an amount with the gas of its hops taken off, or added where it is a cost."""
        last = max(number for number, hop in enumerate(hops) if hop.token_out == request.token_out)
        ordered = (*hops[:last], *hops[last + 1 :], hops[last])  # a route is valued in the token of its last hop
        route = Valuation(self._router.graph, self._gas_prices(request)).build_route(Side(request.side), ordered)
        return gross + route.gas_cost_in if request.side == Side.EXACT_OUT else gross - route.gas_cost_out

    def _cost(self, request: RouteRequest, gross: int, hops: tuple[Hop, ...]) -> int:
        value = self._value(request, gross, hops)
        return value if request.side == Side.EXACT_OUT else -value

    def _gas_prices(self, request: RouteRequest) -> dict[int, int]:
        return {**self._router.snapshot.gas_prices, **(request.gas_prices or {})}


def read_bound(request: RouteRequest, result: RouteResult) -> Bound:
    """Return the bound that a result's certificate speaks of."""
    certificate = result.certificate
    if certificate is None or certificate.gap_bps is None or not result.routes:
        return Bound(value=None, scope=certificate.reason if certificate else str(result.status))
    part, net = certificate.gap_bps / BPS, result.routes[0].net_amount
    value = net * (1 - part) if request.side == Side.EXACT_OUT else net / (1 - part) if part < 1 else None
    return Bound(value=value, scope=certificate.scope)


def _judge_amount(request: RouteRequest, ledger: Ledger) -> int:
    """Return what counts of a ledger: what it gave, or what it cost."""
    given = ledger.held.get(request.token_out, 0)
    if given <= 0:
        raise BrokenAnswer(Fault.WRONG_TOKEN, f"nothing of {request.token_out} arrives")
    if request.side == Side.EXACT_OUT:
        if given < request.amount:
            raise BrokenAnswer(Fault.TOO_LITTLE, f"{given} arrives, and {request.amount} were asked for")
        return ledger.spent
    left = ledger.held.get(request.token_in, 0)
    if left:
        raise BrokenAnswer(Fault.UNSPENT, f"{left} of {request.amount} {request.token_in} is left")
    return given
