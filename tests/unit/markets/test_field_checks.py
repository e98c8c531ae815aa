"""No constructor of a market, or of what markets are made of, takes a value that its annotation does not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import routing_engine.markets
from benchmarks.parts.market_kinds import DOLLAR, ETH_LIKE, samples
from routing_engine import InvalidMarket, InvalidRequest
from routing_engine.amm.cryptoswap.exchange import Profit
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.markets import BridgeLane, ConcentratedPool, CryptoSwapPool, LaneFee, Level, installed_kinds
from routing_engine.markets.common.field_checks import is_known
from tests.support.markets import market_of

WRONG: dict[Any, tuple[Any, ...]] = {
    int: (1.5, 1e18, np.int64(5), np.float64(5), "5", True, None),
    bool: ("no", 1, 0, np.True_, None),
    str: ("", 5, None),
}
CRYPTO = next(each.market for each in samples() if isinstance(each.market, CryptoSwapPool))
MADE = {
    **{sample.name: sample.market for sample in samples()},
    "a lane": market_of("lane: A@1 > A@10 fee=1 10bps 60s")[0],
    "a fee": LaneFee(name="relayer_fee"),
    "a pool with profits": replace(CRYPTO, profit=Profit((10**18,) * (len(CRYPTO.tokens) - 1), 1, 1, 1, 0, 0)),
}


def list_wrong(hint: Any, value: Any) -> Iterator[Any]:
    """Yield values that are not of a type, made from one that is."""
    if NoneType in get_args(hint):
        yield from list_wrong(get_args(hint)[0], value) if value is not None else ("x", 5)
    elif get_origin(hint) is tuple:
        yield from (list(value), 5, None, "x")
        if Ellipsis not in get_args(hint):
            yield value[1:]
        if value:
            yield from ((*value[:-1], wrong) for wrong in list_wrong(get_args(hint)[0], value[-1]))
    elif issubclass(hint, tuple):
        yield from (tuple(value), 5)
        for name, each in get_type_hints(hint).items():
            yield from (value._replace(**{name: wrong}) for wrong in list_wrong(each, getattr(value, name)))
    elif issubclass(hint, Enum):
        yield from (value.value, "x", 5, None)
    else:
        yield from WRONG.get(hint, ("WETH", 5, ()))


@pytest.mark.parametrize("name", MADE)
def test_no_field_takes_what_its_annotation_does_not_say(name: str) -> None:
    made: Any = MADE[name]
    hints = get_type_hints(type(made))
    for field in fields(made):
        hint = hints[field.name]
        assert is_known(hint), f"{field.name}: teach `require_held` and `is_known` what a {hint} holds"
        for wrong in list_wrong(hint, getattr(made, field.name)):
            with pytest.raises(InvalidMarket, match=r"^\S+: must be ") as error:
                replace(made, **{field.name: wrong})
            assert error.value.field.split(".")[0] == field.name, wrong


def test_every_public_constructor_is_tried() -> None:
    tried = {type(made) for made in MADE.values()}
    assert {kind.market for kind in installed_kinds().values()} <= tried
    inside = {part for kind in tried for hint in get_type_hints(kind).values() for part in (hint, *get_args(hint))}
    public = [getattr(routing_engine.markets, name) for name in routing_engine.markets.__all__]
    classes = {each for each in public if is_dataclass(each) or hasattr(each, "_fields")}
    assert classes <= tried | inside
    assert {Level, FeeTerms, Profit} <= inside


@pytest.mark.parametrize(
    ("field", "wrong"),
    [(field, wrong) for field in ("chain_id", "decimals") for wrong in WRONG[int]]
    + [("symbol", 5), ("symbol", None), ("address", 5), ("transfers", "exact"), ("transfers", None)],
)
def test_a_token_of_something_else_is_refused(field: str, wrong: Any) -> None:
    with pytest.raises(InvalidRequest, match=f"^{field}: must be "):
        replace(ETH_LIKE, **{field: wrong})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": (ETH_LIKE,)}, "tokens: must be a tuple of 2 Tokens, not"),
        ({"tokens": ("WETH", DOLLAR)}, "tokens.0: must be a Token, not 'WETH'; Token"),
        ({"positions": 5}, r"positions: must be a list of \(from, to, value\), not 5"),
    ],
)
def test_a_pool_by_hand_of_something_else_is_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"id": "p", "tokens": (ETH_LIKE, DOLLAR), "price": "2500", "positions": [(1, 5_000, 9)]}
    assert ConcentratedPool.from_price(**given)
    with pytest.raises(InvalidMarket, match=f"^{message}"):
        ConcentratedPool.from_price(**{**given, **changes})


def test_a_wrong_fee_names_its_place() -> None:
    lane: Any = MADE["a lane"]
    assert isinstance(lane, BridgeLane)
    with pytest.raises(InvalidMarket, match=r"^fees: must be a tuple of LaneFees, not 5; tuple\(…\) makes one$"):
        replace(lane, fees=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidMarket, match=r"^fees\.0: must be a LaneFee, not 'x'; LaneFee\(…\) makes one$"):
        replace(lane, fees=("x",))  # type: ignore[arg-type]
