"""No method finds a route that a certificate excludes: every path, a grid of divisions, chunks, the router itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.instances import CONSISTENT, LOOPS, constant_product_market, queries
from benchmarks.measure import gas_price, request_of
from routing_engine import Certificate, Route, Router, RouteRequest, RouteResult, Snapshot
from routing_engine.certificate import ALL_FLOWS
from tests.support.emulations import Emulations
from tests.support.exhaustive import exhaustive
from tests.support.mixed import DOLLARS, GAS_PRICES, TOKENS, mixed_markets
from tests.support.pairs import best_on_the_grid
from tests.support.peer_routes import routes_of

PATIENT_MS = 600_000
ROUNDING = 1e-9
SIZES = (0.0001, 0.01, 0.1)


def is_covered(certificate: Certificate, rival: Route) -> bool:
    """Whether a certificate speaks of a route: whether none of its paths is too long."""
    if certificate.scope == ALL_FLOWS:
        return True
    return max(len(path.hops) for path in rival.paths) <= int(certificate.scope.split("_")[3])


def excluded(result: RouteResult, rival: Route) -> str:
    """Say how a rival breaks a result's certificate; empty where it does not, or where nothing is claimed."""
    certificate = result.certificate
    if certificate is None or certificate.gap_bps is None or not is_covered(certificate, rival):
        return ""
    ours, gap = result.best().net_amount, certificate.gap_bps / 1e4
    if result.request.side == "exact_out":
        broken = rival.net_amount < ours * (1 - gap) * (1 - ROUNDING)
    else:
        broken = rival.net_amount > ours / (1 - gap) * (1 + ROUNDING)
    return f"{certificate}: ours {ours}: {result.best()}; rival {rival.net_amount}: {rival}" if broken else ""


def own_rivals(router: Router, request: RouteRequest) -> Iterator[Route]:
    """What the router itself finds with less to choose from."""
    for options in ({"max_splits": 1}, {"max_splits": 2}, {"max_hops": max(1, request.max_hops - 1)}):
        yield from router.find_routes(replace(request, **options)).routes


@pytest.mark.parametrize("gas", [False, True], ids=["gross", "net"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_certificates_on_markets_of_many_kinds(side: str, gas: bool) -> None:
    proven = asked = 0
    for seed in range(25):
        rng = random.Random(f"{side}{seed}{gas} certificate")
        router = Router(Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES if gas else {1: 0, 10: 0}))
        tokens = [token for token in TOKENS if token in router.graph.index]
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        request = RouteRequest(
            token_in=token_in, token_out=token_out, side=side, max_hops=rng.randint(1, 4), time_budget_ms=PATIENT_MS,
            amount=int(10 ** rng.uniform(3, 6) / DOLLARS[fixed] * 10**fixed.decimals),
        )  # fmt: skip
        result = router.find_routes(request)
        if not result.routes:
            continue
        asked += 1
        assert result.certificate is not None
        proven += result.certificate.gap_bps is not None
        rival = best_on_the_grid(router, request)
        assert rival is not None
        for each in (rival, *own_rivals(router, request)):
            assert not excluded(result, each), seed
        assert not excluded(router.find_routes(replace(request, max_splits=1)), result.best()), seed
    assert asked > 10
    assert proven > asked // 2


@pytest.mark.parametrize("disagreement", [CONSISTENT, LOOPS], ids=["prices agree", "loops"])
def test_certificates_on_constant_product_markets(disagreement: float) -> None:
    """Gross, and net of gas of a basis point a pool."""
    gaps = []
    for seed in range(3):
        router = Router(constant_product_market(tokens=20, pools=50, seed=seed, disagreement=disagreement))
        emulations = Emulations(router, max_hops=4)
        for query in queries(router, 2, SIZES, seed=seed):
            for price in (0, gas_price(router, query)):
                request = request_of(query, gas_prices={1: price}, time_budget_ms=PATIENT_MS)
                result = router.find_routes(request)
                assert result.certificate is not None
                assert result.certificate.gap_bps is not None
                assert result.certificate.gas_aware
                gaps.append(result.certificate.gap_bps)
                answers = [
                    exhaustive(router, request),
                    *(emulations.chunked(request, count) for count in (2, 5, 16, 50)),
                    *(emulations.disjoint(request, count) for count in (2, 4, 8)),
                ]
                rivals = [route for answer in answers for route in routes_of(router, request, answer)]
                for rival in (*rivals, *own_rivals(router, request)):
                    assert not excluded(result, rival), (seed, query)
                assert not excluded(router.find_routes(replace(request, max_splits=1)), result.best()), (seed, query)
    assert len(gaps) == 3 * 2 * len(SIZES) * 2
    if disagreement == CONSISTENT:
        assert sorted(gaps)[len(gaps) // 2] < 1
