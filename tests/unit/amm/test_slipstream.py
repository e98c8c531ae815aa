"""Slipstream: quotes of Aerodrome's deployed quoter, in the recorded part of a pool's ticks."""

from __future__ import annotations

import json

import pytest

from routing_engine.amm.concentrated.swap_loop import swap
from routing_engine.markets import ConcentratedPool
from routing_engine.model import Token

CBETH_WETH = "0x47ca96ea59c13f72745928887f84c9f52c3d7348"
"""On Base; at block 46875151 its fee was 90 pips."""
QUOTES = (
    (True, 0x8301E0DF25, 0x942DF81BD0, 0x11046180F471A4FDC32802067),
    (True, 0x51E12C8B778, 0x5C9CBB1162C, 0x11046180F45D50989536757A0),
    (True, 0x332CBBD72AB5, 0x39E1F4EADB13, 0x11046180F39204A4C9D1517E9),
    (True, 0x1FFBF5667AB1B, 0x242D3912B80B5, 0x11046180EBA10D1EDBF1839DB),
    (True, 0x13FD79600CAF16, 0x169C43AB498360, 0x110461809C3761E528D9D8DD1),
    (True, 0xC7E6BDC07ED6E0, 0xE21AA487A7AA3C, 0x1104617D8216B24366EE193F2),
    (True, 0x7CF036984F464C0, 0x8D50A5D32E211CF, 0x1104615E7CD01425A78E6F980),
    (True, 0x4E16221F318BF000, 0x58526159F6B0C954, 0x110460284826333901A043A6C),
    (True, 0x30CDD5537EF776000, 0x37335589B297D3211, 0x1104540A43012A3CC99488B51),
    (True, 0x3D014AA85EB552000, 0x45001D463C9470DC6, 0x110450AC99F8A7713AEAAC012),
    (True, 0x7A029550BD6AA4000, 0x89FFB21240835257F, 0x11043FD860C6FCB88CD0F6300),
    (False, 0x4FC2099274, 0x4680955039, 0x11046180F4751E7B79D670AB7),
    (False, 0x1378DF564185A, 0x1136647411839, 0x11046180F933A03070E9D09E9),
    (False, 0x4C102868EFF2000, 0x433C781C2BC46BE, 0x11046193815E4B159489021B0),
    (False, 0x2F8A194195F74000, 0x2A05C975533D06A2, 0x1104623A759BCD86C30096070),
    (False, 0x1DB64FC8FDBA88000, 0x1A4393D8958A8B44E, 0x110468C00002E5F293AC55710),
    (False, 0x4A47C7767A5254000, 0x41A8C7AD5CFF59766, 0x1104739537656768C09C3261B),
    (False, 0x948F8EECF4A4A8000, 0x835121E923AB95CE2, 0x11047DE7D8FAA7CF98FFFA5F7),
)
"""Whether token 0 is sold, amount in, amount out, ``sqrtPriceX96After``: recorded by BowTiedDevil/degenbot (MIT)."""


@pytest.mark.shared_data
@pytest.mark.parametrize(("zero_for_one", "amount_in", "amount_out", "price_after"), QUOTES)
def test_a_deployed_pools_quotes(shared_data, record_property, zero_for_one, amount_in, amount_out, price_after):
    """The record holds the ticks around the price only, so the pool is not validated and swaps stay small."""
    pools = json.loads((shared_data / "markets" / "degenbot_fixtures.json").read_text())["pools"]
    record = next(pool for pool in pools if pool["address"] == CBETH_WETH)
    token0, token1 = (
        Token(chain_id=8453, address=token["address"], symbol=token["symbol"], decimals=token["decimals"])
        for token in record["tokens"]
    )
    pool = ConcentratedPool(
        id=record["id"],
        protocol="aerodrome_slipstream",
        token0=token0,
        token1=token1,
        fee_pips=90,
        tick_spacing=record["tick_spacing"],
        sqrt_price_x96=int(record["sqrt_price_x96"]),
        tick=record["tick"],
        liquidity=int(record["liquidity"]),
        ticks=tuple((index, int(net)) for index, net in record["ticks"]),
    )
    done = swap(pool, zero_for_one, amount_in)
    record_property("vector_cases", ("slipstream: answers of the deployed quoter (amount and price after)", 1))
    assert (done.amount_out, done.sqrt_price_x96) == (amount_out, price_after)
