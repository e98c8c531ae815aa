"""Small markets written as text, and random ones."""

from __future__ import annotations

import contextlib
import random
from itertools import combinations, permutations

from routing_engine.errors import QuoteRefused
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.market import Market
from routing_engine.markets import BridgeLane, ConstantProductPool, LaneFee
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search.paths.path_search import replay


def token(name: str, decimals: int = 18) -> Token:
    """Return a token for ``SYMBOL`` (chain 1) or ``SYMBOL@chain``; its address is derived from the symbol."""
    symbol, _, chain = name.partition("@")
    return Token(
        chain_id=int(chain or 1), address="0x" + symbol.lower().encode().hex().rjust(40, "0"), symbol=symbol,
        decimals=decimals,
    )  # fmt: skip


def market_of(text: str) -> list[Market]:
    """Read one market per line.

    ``name: A B 1000 2000 30bps`` is a constant-product pool in whole tokens, ``name: A@1 > A@10 fee=3 10bps 60s`` a
    lane with a flat fee in whole tokens, a proportional fee and a fill time. The name is id and protocol.
    """
    markets: list[Market] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(":")
        words = rest.split()
        if words[1] == ">":
            markets.append(_lane(name, words[0], words[2], words[3:]))
            continue
        first, second = token(words[0]), token(words[1])
        markets.append(
            ConstantProductPool(
                id=name,
                protocol=name,
                token0=first,
                token1=second,
                reserve0=int(words[2]) * 10**18,
                reserve1=int(words[3]) * 10**18,
                fee_pips=int(words[4].removesuffix("bps")) * 100,
            )
        )
    return markets


def _lane(name: str, source: str, target: str, words: list[str]) -> BridgeLane:
    flat = sum(int(word[4:]) for word in words if word.startswith("fee="))
    rate = sum(int(word[:-3]) for word in words if word.endswith("bps"))
    time = sum(int(word[:-1]) for word in words if word.endswith("s") and not word.endswith("bps"))
    most = sum(int(word[4:]) for word in words if word.startswith("max="))
    return BridgeLane(
        id=name,
        protocol=name,
        token_in=token(source),
        token_out=token(target),
        fees=(LaneFee(name="relayer_fee", flat=flat * 10**18, rate_e18=rate * 10**14),),
        max_amount_in=(most or 10**30) * 10**18,
        fill_time_s=time,
        gas=100_000,
    )


def random_markets(rng: random.Random) -> list[Market]:
    """Return a market of at most six tokens on two chains whose pools disagree about prices, with parallel pools."""
    tokens = [token(name, rng.choice((6, 18))) for name in ("A", "B", "C", "D@10", "E@10", "F@10")]
    worth = {each: rng.uniform(0.1, 10) for each in tokens}
    markets: list[Market] = []
    for first, second in combinations(tokens, 2):
        if first.chain_id != second.chain_id:
            continue
        for copy in range(rng.choice((0, 1, 1, 2))):
            depth, skew = 10 ** rng.uniform(2, 6), rng.uniform(0.97, 1.03)
            markets.append(
                ConstantProductPool(
                    id=f"{first.symbol}{second.symbol}{copy}",
                    protocol=rng.choice(("uniswap_v2", "sushiswap_v2")),
                    token0=first,
                    token1=second,
                    reserve0=int(depth / worth[first] * 10**first.decimals),
                    reserve1=int(depth / worth[second] * skew * 10**second.decimals),
                    fee_pips=rng.choice((500, 3000, 10000)),
                )
            )
    for source, target in permutations(tokens, 2):
        if source.chain_id != target.chain_id and rng.random() < 0.3:
            fee = LaneFee(name="fee", flat=rng.randrange(10**source.decimals), rate_e18=rng.randrange(10**16))
            markets.append(
                BridgeLane(
                    id=f"{source.symbol}>{target.symbol}",
                    protocol="lane",
                    token_in=source,
                    token_out=target,
                    fees=(fee,),
                    max_amount_in=int(10 ** rng.uniform(1, 6)) * 10**source.decimals,
                    fill_time_s=rng.randrange(2000),
                    gas=90_000,
                )
            )
    return markets


def every_route(markets: list[Market], request: RouteRequest, valuation: Valuation) -> list[Route]:
    """Return the routes over all simple paths without a market twice, each priced exactly."""
    edges = [(market, *edge) for market in markets for edge in market.edges()]
    found: list[Route] = []

    def extend(path: tuple[tuple[Market, Token, Token], ...], visited: frozenset[Token]) -> None:
        at = path[-1][2] if path else request.token_in
        if at == request.token_out:
            with contextlib.suppress(QuoteRefused):
                found.append(valuation.build_route(Side(request.side), replay(path, request.side, request.amount)))
            return
        if len(path) == request.max_hops:
            return
        for edge in edges:
            used = any(edge[0].id == step[0].id for step in path)
            if edge[1] == at and edge[2] not in visited and not used:
                extend((*path, edge), visited | {edge[2]})

    extend((), frozenset({request.token_in}))
    return found


def brute_force(markets: list[Market], request: RouteRequest, valuation: Valuation) -> Route | None:
    """Return the best of `every_route`."""

    def key(route: Route) -> tuple[float, float]:
        return request.objective.rank(
            route.net_amount, route.fill_time_s, exact_out=route.side is Side.EXACT_OUT
        )  # fmt: skip

    return min(every_route(markets, request, valuation), key=key, default=None)
