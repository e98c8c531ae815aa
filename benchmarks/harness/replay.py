"""What an answer really gives: its swaps run in exact integers through the markets, as they stand and merged."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from benchmarks.harness.answer import Answer, Swap
from routing_engine import Hop, Market, QuoteRefused, RouteRequest, Token

Flows = dict[tuple[str, Token, Token], int]


class Fault(StrEnum):
    """Why an answer does not count. Each is a failure of the solver's, never of the run."""

    TIMEOUT = "timeout"
    CRASHED = "crashed"
    ERROR = "error"
    BAD_ANSWER = "bad_answer"
    TOO_LARGE = "too_large"
    UNKNOWN_MARKET = "unknown_market"
    WRONG_TOKEN = "wrong_token"
    OVERSPENT = "overspent"
    UNSPENT = "unspent"
    MARKET_DECLINES = "market_declines"
    TOO_LITTLE = "too_little"


class BrokenAnswer(Exception):
    """An answer that cannot be carried out.

    Parameters
    ----------
    fault : Fault
        Why.
    detail : str
        Where, for people.
    """

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault, self.detail = fault, detail


class Ledger:
    """What is held of every token while swaps run, each on the markets as those before it left them.

    Parameters
    ----------
    markets : mapping of str to Market
        By id; they stay as they are.
    request : RouteRequest
        Whose amount is there at the beginning; for an exact output, as much as the answer wants to spend.
    """

    def __init__(self, markets: Mapping[str, Market], request: RouteRequest) -> None:
        self._markets, self._moved, self._request = markets, dict[str, Market](), request
        self._is_open = request.side == "exact_out"
        self.held: dict[Token, int] = {} if self._is_open else {request.token_in: request.amount}
        self.spent = 0
        self.hops: list[Hop] = []

    def run(self, answer: Answer) -> None:
        """Run a whole answer.

        Raises
        ------
        BrokenAnswer
            At the first swap that cannot be made.
        """
        for swap in answer.swaps:
            self.swap(swap, swap.amount)
        for amount, path in answer.paths:
            for swap in path:
                amount = self.swap(swap, amount)

    def swap(self, swap: Swap, amount: int | None) -> int:
        """Make one swap and return what it gives."""
        token_in, token_out = self._find_direction(swap)
        there = self.held.get(token_in, 0)
        is_source = token_in == self._request.token_in
        if amount is None and is_source and self._is_open:
            raise BrokenAnswer(Fault.BAD_ANSWER, f"{swap.market}: say how much to pay, as an output is asked for")
        amount = there if amount is None else amount
        if amount <= 0:
            raise BrokenAnswer(Fault.OVERSPENT, f"{swap.market}: there is no {token_in} to sell")
        if amount > there and not (is_source and self._is_open):
            raise BrokenAnswer(
                Fault.OVERSPENT, f"{swap.market}: sells {amount} of {token_in}, of which {there} is there"
            )
        try:
            hop, after = self._moved.get(swap.market, self._markets[swap.market]).swap_exact_in(
                token_in, token_out, amount
            )
        except QuoteRefused as refused:
            raise BrokenAnswer(Fault.MARKET_DECLINES, f"{swap.market}: {refused}") from refused
        self._moved[swap.market] = after
        self.held[token_in] = max(0, there - amount)
        self.held[token_out] = self.held.get(token_out, 0) + hop.amount_out
        self.spent += amount if is_source else 0
        self.hops.append(hop)
        return hop.amount_out

    def _find_direction(self, swap: Swap) -> tuple[Token, Token]:
        market = self._markets.get(swap.market)
        if market is None:
            raise BrokenAnswer(Fault.UNKNOWN_MARKET, f"{swap.market[:80]!r} is no market of this file")
        for token_in, token_out in market.edges():
            if (token_in.key, token_out.key) == (swap.token_in.lower(), swap.token_out.lower()):
                return token_in, token_out
        raise BrokenAnswer(
            Fault.WRONG_TOKEN, f"{swap.market} does not turn {swap.token_in[:60]!r} into {swap.token_out[:60]!r}"
        )


def run_steps(
    markets: Mapping[str, Market], paths: tuple[tuple[int, tuple[tuple[str, Token, Token], ...]], ...]
) -> tuple[Hop, ...]:
    """Run amounts down paths of markets, each path on the markets as those before it left them.

    Raises
    ------
    QuoteRefused
        By the first market that declines.
    """
    state: dict[str, Market] = {}
    hops = []
    for amount, path in paths:
        for market_id, token, other in path:
            hop, state[market_id] = state.get(market_id, markets[market_id]).swap_exact_in(token, other, amount)
            hops.append(hop)
            amount = hop.amount_out
    return tuple(hops)


def run_merged(markets: Mapping[str, Market], token_in: Token, hops: tuple[Hop, ...]) -> tuple[Hop, ...] | None:
    """Run each market once with all that passed through it; None where the hops form a cycle.

    Raises
    ------
    QuoteRefused
        By the first market that declines.
    """
    flows: Flows = {}
    for hop in hops:
        key = (hop.market_id, hop.token_in, hop.token_out)
        flows[key] = flows.get(key, 0) + hop.amount_in
    here = {token_in: sum(amount for (_, token, _), amount in flows.items() if token == token_in)}
    waiting, merged = dict(flows), []
    while waiting:
        arriving = {key[2] for key in waiting}
        ready = [key for key in waiting if key[1] not in arriving]
        if not ready or len({market for market, *_ in flows}) < len(flows):
            return None
        token = ready[0][1]
        leaving = [key for key in ready if key[1] == token]
        total = sum(waiting[key] for key in leaving)
        for key in leaving:
            weight = waiting.pop(key)
            part = here[token] * weight // total
            here[token], total = here[token] - part, total - weight
            hop, _ = markets[key[0]].swap_exact_in(token, key[2], part)
            here[key[2]] = here.get(key[2], 0) + hop.amount_out
            merged.append(hop)
    return tuple(merged)
