"""What the library gives away is a value: nothing of it can be assigned."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from routing_engine import Router, RouteRequest, Snapshot


@pytest.fixture(scope="module")
def values() -> list[object]:
    snapshot = Snapshot.sandbox()
    weth, usdc = snapshot.token("WETH@1"), snapshot.token("USDC@8453")
    request = RouteRequest(token_in=weth, token_out=usdc, amount=10**18)
    router = Router(snapshot)
    result = router.find_routes(request)
    route = result.best()
    quotes = router.quote_many(weth, usdc, 10**18)
    return [weth, request, result, result.certificate, route, route.legs[0], route.paths[0], route.hops[0], quotes]


def test_no_value_lets_itself_be_changed(values: list[object]) -> None:
    for value in values:
        names = {name for name in dir(value) if not name.startswith("_")}
        assert names
        for name in (*names, "unheard_of"):
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field {name!r}"):
                setattr(value, name, 1)
            with pytest.raises(FrozenInstanceError, match=f"cannot delete field {name!r}"):
                delattr(value, name)
