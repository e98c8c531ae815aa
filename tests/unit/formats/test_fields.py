"""Fields that pools of all types share: tokens, decimals, reserves, fees; and who names them otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_engine import Snapshot
from routing_engine.errors import BadMarketFile, InvalidMarket
from routing_engine.markets import ConstantProductPool, pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_fee, read_reserves, read_tokens
from routing_engine.markets.cryptoswap.readers import build_read
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS

OWN = "0x" + "f" * 40


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {"address": f"0x{number:040x}", "symbol": f"T{number}", "decimals": 18} | fields


def pool(*tokens: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "1:p", "chain_id": 1, "address": OWN, "protocol": "uniswap", "tokens": list(tokens)} | fields


def test_a_pools_own_token_has_eighteen_decimals_whether_the_source_says_so_or_not() -> None:
    own = row(3, address=OWN.upper().replace("0X", "0x"), decimals=None)
    assert [token.decimals for token in read_tokens(pool(row(1, decimals=6), own))] == [6, 18]
    with pytest.raises(PoolRefused, match="unknown_decimals"):
        read_tokens(pool(row(1), row(2, decimals=None)))
    with pytest.raises(PoolRefused, match="unknown_decimals"):
        read_tokens(pool(row(1), row(2, address=ZERO_ADDRESS, decimals=None), address=""))


@pytest.mark.parametrize("address", [ZERO_ADDRESS, NATIVE_ADDRESS])
def test_the_native_coin_has_one_address_and_its_symbol(address: str) -> None:
    coin = read_tokens(pool(row(1), row(2, address=address, symbol=address)))[1]
    assert (coin.address, coin.symbol) == (NATIVE_ADDRESS, "ETH")


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ((row(1, decimals=78), row(2)), "decimals_out_of_range"),
        ((row(1), row(1)), "tokens_not_distinct"),
        ((row(1),), "tokens_not_distinct"),
    ],
)
def test_pools_of_impossible_tokens_are_refused(tokens: tuple[dict[str, Any], ...], reason: str) -> None:
    with pytest.raises(PoolRefused, match=reason):
        read_tokens(pool(*tokens))


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"tokens": {}}, "tokens"),
        ({"tokens": ["0x"]}, "tokens"),
        ({"tokens": [row(1), row(2, address="0x12")]}, "tokens.1.address"),
        ({"tokens": [row(1), row(2, decimals="many")]}, "tokens.1.decimals"),
    ],
)
def test_damaged_tokens_are_named(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidMarket) as error:
        read_tokens(pool(**fields))
    assert error.value.field == name


def test_reserves_and_fees_are_exact_or_refused() -> None:
    assert read_reserves({"reserves": ["1", str(10**40)]}, 2) == [1, 10**40]
    assert read_fee({"fee": "0.000123456"}, 10**9) == 123_456
    for fee, reason in ((None, "fee_unknown"), ("1", "fee_out_of_range"), ("0.0000001", "fee_out_of_range")):
        with pytest.raises(PoolRefused, match=reason):
            read_fee({"fee": fee}, 10**6)


def test_kybers_name_of_a_pairs_fee_is_read() -> None:
    record = pool(row(1), row(2), reserves=["5000", "7000"], fee=None, kyber_swapFee=0.003)
    market = pool_readers()["uniswap"](record, record["id"], read_tokens(record))
    assert isinstance(market, ConstantProductPool)
    assert (market.reserve0, market.reserve1, market.fee_pips) == (5_000, 7_000, 3_000)
    with pytest.raises(PoolRefused, match="fee_unknown"):
        pool_readers()["uniswap"](record | {"kyber_swapFee": None}, record["id"], read_tokens(record))


def test_what_is_no_market_of_pools_says_so(tmp_path: Path) -> None:
    path = tmp_path / "deltas.json"
    path.write_text(json.dumps({"meta": {}, "blocks": []}))
    with pytest.raises(BadMarketFile, match="load_deltas"):
        Snapshot.load(path)
    path.write_text(json.dumps({"pools": [5]}))
    with pytest.raises(BadMarketFile, match=r"pools\.0: expected an object"):
        Snapshot.load(path)


@pytest.mark.parametrize("count", [4, 8])
def test_crypto_pools_have_two_or_three_coins(count: int) -> None:
    record = pool(
        *(row(number) for number in range(1, count + 1)),
        reserves=["1000"] * count,
        params={
            "a_coefficient": 100, "gamma": 10**14, "d": 10**24, "price_scale": [10**18] * (count - 1), "mid_fee": 1,
            "out_fee": 2, "fee_gamma": 3,
        },
    )  # fmt: skip
    with pytest.raises(PoolRefused, match="not_two_or_three_tokens"):
        build_read(record, record["id"], read_tokens(record))
