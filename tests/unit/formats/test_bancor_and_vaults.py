"""Bancor pools and vaults from neutral files."""

from __future__ import annotations

import pytest

from routing_engine.errors import InvalidMarket
from routing_engine.markets import pool_readers
from routing_engine.markets.bancor import BNT
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from tests.unit.formats.test_fluid import changed

OTHER = {"address": "0x" + "f5" * 20, "symbol": "AXS", "decimals": 18}
BANCOR = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "cpmm_bancor",
    "protocol": "bancor_v21",
    "tokens": [{"address": BNT, "symbol": "BNT", "decimals": 18}, OTHER],
    "reserves": ["48506706613513926472", "3904980623076242258"],
    "fee": "0.00225",
}
SHARE = "0x" + "bc" * 20
VAULT = {
    "id": "1:" + SHARE,
    "chain_id": 1,
    "type": "erc4626",
    "protocol": "erc4626",
    "tokens": [
        {"address": "0x" + "a0" * 20, "symbol": "USDC", "decimals": 6},
        {"address": SHARE, "symbol": "sUSDC", "decimals": 18},
    ],
    "raw_state": {
        "pool_address": SHARE.upper().replace("X", "x"),
        "asset_price": "0xcb903b0d2f14489",
        "share_price": "0x10a4e4",
        "max_deposit": "0x0",
        "max_redeem": "0xb41a16c83ee665c320e1e9",
    },
}


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


def test_a_bancor_pool():
    market = build(BANCOR)
    assert (market.reserve0, market.reserve1, market.fee_pips) == (48506706613513926472, 3904980623076242258, 2250)


@pytest.mark.parametrize("turned", [False, True])
def test_a_vault_in_either_order_of_tokens(turned):
    tokens = VAULT["tokens"][::-1] if turned else VAULT["tokens"]
    market = build(changed(VAULT, tokens, "tokens"))
    assert (market.asset.symbol, market.share.symbol) == ("USDC", "sUSDC")
    assert (market.asset_price, market.share_price) == (0xCB903B0D2F14489, 1_090_788)
    assert market.edges() == ((market.share, market.asset),)


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (changed(BANCOR, [OTHER, {**OTHER, "address": SHARE}], "tokens"), "without_bnt"),
        (changed(BANCOR, ["0", "1"], "reserves"), "empty"),
        (changed(VAULT, "0x" + "00" * 20, "raw_state", "pool_address"), "share_token_unknown"),
        (changed(VAULT, "0x0", "raw_state", "max_redeem"), "closed"),
        ({key: value for key, value in VAULT.items() if key != "raw_state"}, "prices_unknown"),
    ],
)
def test_what_is_incomplete_is_refused_with_a_reason(pool, reason):
    with pytest.raises(PoolRefused, match=f"^{reason}$"):
        build(pool)


@pytest.mark.parametrize(
    ("pool", "field"),
    [
        (changed(BANCOR, ["1"], "reserves"), "reserves"),
        (changed(VAULT, "0x10a4e5", "raw_state", "share_price"), "share_price"),
        (changed(VAULT, 1.5, "raw_state", "asset_price"), "asset_price"),
    ],
)
def test_what_is_damaged_is_an_error_that_names_the_field(pool, field):
    with pytest.raises(InvalidMarket) as invalid:
        build(pool)
    assert invalid.value.field == field
