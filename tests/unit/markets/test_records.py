"""Records: what reads them, and how they fail."""

from __future__ import annotations

import json

import pytest

from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import Q96
from routing_engine.market import UNLIMITED
from routing_engine.markets import (
    BridgeLane,
    ConcentratedPool,
    ConstantProductPool,
    LaneFee,
    NativeWrap,
    installed_kinds,
    market_from_record,
)
from routing_engine.model import NATIVE_ADDRESS, Token
from tests.support.strategies import TOKEN0, TOKEN1, make_token

NATIVE = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
FAR = make_token(7, decimals=8, chain_id=42161)
TOKENS = {token.key: token for token in (TOKEN0, TOKEN1, NATIVE, FAR)}
COMMON = {"id": "1:0xpool", "protocol": "p", "token0": TOKEN0, "token1": TOKEN1, "fee_pips": 500}

MARKETS = [
    ConstantProductPool(**COMMON, reserve0=2**100, reserve1=7, gas=99_000),
    ConcentratedPool(
        **COMMON, tick_spacing=10, sqrt_price_x96=Q96, tick=0, liquidity=2**90, ticks=((-10, 2**90), (10, -(2**90)))
    ),
    BridgeLane(
        id="lane",
        protocol="cctp",
        token_in=TOKEN1,
        token_out=FAR,
        fees=(LaneFee(name="fee", flat=2**70, rate_e18=10**14),),
        max_amount_in=UNLIMITED,
        fill_time_s=900,
        gas=1,
    ),
    NativeWrap(id="w", native=NATIVE, wrapped=TOKEN0, gas_withdraw=1),
]


@pytest.mark.parametrize("market", MARKETS, ids=lambda market: market.kind)
def test_a_record_survives_json(market):
    record = json.loads(json.dumps(market.to_record()))
    assert market_from_record(record, TOKENS) == market
    assert installed_kinds()[record["kind"]].market is type(market)


@pytest.mark.parametrize("market", MARKETS, ids=lambda market: market.kind)
def test_integers_beyond_a_double_are_strings(market):
    def integers(value):
        if isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from integers(item)
        elif isinstance(value, int):
            yield value

    assert all(abs(number) <= 2**53 for number in integers(market.to_record()))


@pytest.mark.parametrize("market", MARKETS, ids=lambda market: market.kind)
def test_every_missing_field_is_named(market):
    record = market.to_record()
    for field in record:
        rest = {name: value for name, value in record.items() if name != field}
        with pytest.raises(InvalidMarket) as error:
            market_from_record(rest, TOKENS)
        assert error.value.field == field


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("kind", "stableswap9", "is unknown; known are "),
        ("id", "", "non-empty string"),
        ("protocol", 5, "non-empty string"),
        ("token0", "0xdead@1", "not in the list of tokens"),
        ("fee_pips", 0.003, "must be an integer"),
        ("fee_pips", True, "must be an integer"),
        ("liquidity", "1e18", "must be an integer"),
        ("liquidity", "9" * 81, "must be an integer"),
        ("liquidity", "٣", "must be an integer"),
        ("ticks", None, "must be a list"),
        ("ticks", [[0, "1", 2]], "must be a row of 2"),
        ("ticks", [["x", "1"]], "must be an integer"),
        ("tick", 55, "does not belong"),
    ],
)
def test_a_bad_field_is_named_with_a_remedy(field, value, message):
    record = {**MARKETS[1].to_record(), field: value}
    with pytest.raises(InvalidMarket, match=message) as error:
        market_from_record(record, TOKENS)
    assert error.value.field.split(".")[0] == field
