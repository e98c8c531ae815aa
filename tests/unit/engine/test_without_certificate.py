"""Answers without a certificate: the same routes, and nothing that only a proof needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.search.splits.split import Splitter

SANDBOX = Snapshot.sandbox()
ROUTER = Router(SANDBOX)
ASKED = RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=50 * 10**18, time_budget_ms=600_000)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_splits": 1, "alternatives": 3},
        {"order": "fastest"},
        {"amount": 10**9, "side": "exact_out"},
        {"amount": 10**30},
        {"amount": 10**24},
    ],
    ids=str,
)
def test_routes_are_the_same(options: dict[str, Any]) -> None:
    request = replace(ASKED, **options)
    judged, bare = (ROUTER.find_routes(replace(request, certify=certify)) for certify in (True, False))
    assert bare.certificates == ()
    assert bare.certificate is None
    assert (bare.status, bare.routes, bare.unavailable) == (judged.status, judged.routes, judged.unavailable)
    assert bool(judged.routes) == bool(judged.certificates)


def test_a_pareto_set_is_the_same() -> None:
    judged, bare = (ROUTER.find_pareto_set(replace(ASKED, certify=certify)) for certify in (True, False))
    assert len(judged.routes) > 1
    assert bare.routes == judged.routes
    assert (len(judged.certificates), bare.certificates) == (len(judged.routes), ())


def test_a_single_path_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    monkeypatch.setattr(Splitter, "judge", lambda self, starts: judged.append(starts))
    assert ROUTER.find_routes(replace(ASKED, max_splits=1, certify=False)).routes
    assert judged == []
