"""What a peer's answer really gives: its paths run in exact integers through the markets, gas valued as for our own."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.peers import Answer
from routing_engine import Hop, Market, QuoteRefused, Route, Router, RouteRequest, Side, Token
from routing_engine.graph.gas_valuation import Valuation

Flows = dict[tuple[str, Token, Token], int]


def routes_of(router: Router, request: RouteRequest, answer: Answer) -> list[Route]:
    """Return the answer as routes that can be compared with the router's: none if a market declines.

    The paths run one after the other, as most routers execute them; and, where they share markets and form no cycle,
    also merged into a network that uses each market once, which costs less gas and is what our own routes are. The
    better of the two counts.
    """
    if not answer.paths:
        return []
    valuation = Valuation(router.graph, {**router.snapshot.gas_prices, **(request.gas_prices or {})})
    markets = router.snapshot.markets
    try:
        hops = run_in_turn(markets, request.token_in, answer.paths)
    except QuoteRefused:
        return []
    found = [valuation.build_route(Side.EXACT_IN, hops)]
    if len({hop.market_id for hop in hops}) < len(hops):
        try:
            merged = run_merged(markets, request.token_in, hops)
        except QuoteRefused:
            return found
        found += [valuation.build_route(Side.EXACT_IN, merged)] if merged else []
    return found


def run_in_turn(
    markets: Mapping[str, Market], token_in: Token, paths: tuple[tuple[int, tuple[str, ...]], ...]
) -> tuple[Hop, ...]:
    """Run each path on the markets as the paths before it left them.

    Raises
    ------
    QuoteRefused
        By the first market that declines.
    """
    divided = []
    for amount, path in paths:
        token, steps = token_in, []
        for market_id in path:
            other = next(b for a, b in markets[market_id].edges() if a == token)
            steps.append((market_id, token, other))
            token = other
        divided.append((amount, tuple(steps)))
    return run_steps(markets, tuple(divided))


def run_steps(
    markets: Mapping[str, Market], paths: tuple[tuple[int, tuple[tuple[str, Token, Token], ...]], ...]
) -> tuple[Hop, ...]:
    """Run paths of markets whose tokens are named, as `run_in_turn` does.

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
        ready = [key for key in waiting if all(key[1] != arriving[2] for arriving in waiting)]
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
