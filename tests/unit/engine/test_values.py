"""What the library gives away is a value: nothing of it can be assigned."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import get_type_hints

import pytest

from routing_engine import Fee, Router, RouteRequest, Snapshot, Token


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


def test_values_are_made_copied_and_sent_as_those_of_dataclasses_are(values: list[object]) -> None:
    for value in values:
        assert is_dataclass(value)
        given = {field.name: getattr(value, field.name) for field in fields(value)}
        kind = type(value)
        assert list(inspect.signature(kind).parameters) == list(given)
        assert {*get_type_hints(kind.__init__)} == {*given, "return"}
        for same in (kind(**given), replace(value), copy.copy(value), pickle.loads(pickle.dumps(value))):
            assert type(same) is kind
            assert repr(same) == repr(value)


def test_a_value_wants_its_fields_by_name_and_takes_defaults() -> None:
    token = Token(chain_id=1, address="0x" + "1" * 40, symbol="ONE", decimals=18)
    assert Fee(amount=1, token=token, name="fee").included is True
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
        Fee(amount=1, token=token)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 1 positional argument but 2"):
        Fee(1, token=token, name="fee")  # type: ignore[call-arg,misc]
