"""A token is on one chain at one address, however that is written; what is no address is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from routing_engine import BadMarketFile, InvalidRequest, Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from tests.support.markets import token

CHECKSUM = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
WETH = Token(chain_id=1, address=CHECKSUM, symbol="WETH", decimals=18)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


def test_an_address_is_kept_in_lower_case_however_it_is_written() -> None:
    assert WETH.address == CHECKSUM.lower()
    assert WETH.key == f"{CHECKSUM.lower()}@1"
    assert replace(WETH, address=CHECKSUM.lower()) == WETH
    assert len({WETH, replace(WETH, address=CHECKSUM.lower())}) == 1


def test_a_token_with_a_checksum_is_the_snapshots_own(router: Router) -> None:
    usdc = router.snapshot.token("USDC@8453")
    found = router.find_routes(RouteRequest(token_in=WETH, token_out=usdc, amount=10**18))
    known = router.snapshot.token("WETH@1")
    assert found == router.find_routes(RouteRequest(token_in=known, token_out=usdc, amount=10**18))
    for taken in (found.request.token_in, found.best().hops[0].token_in):
        assert (taken, taken.symbol, taken.decimals) == (known, known.symbol, known.decimals)


def test_the_zero_address_is_the_coin(router: Router) -> None:
    zero = Token(chain_id=1, address=ZERO_ADDRESS, symbol="ETH", decimals=18)
    request = RouteRequest(token_in=zero, token_out=router.snapshot.token("USDC@1"), amount=10**18)
    assert router.find_routes(request).best().token_in.address == NATIVE_ADDRESS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address": "hello"}, "^address: must be 0x and 40 hex digits, not 'hello'; copy it in full"),
        ({"address": "0x" + "g" * 40}, "^address: must be 0x and 40 hex digits"),
        ({"address": CHECKSUM[:-1]}, "^address: must be 0x and 40 hex digits"),
        ({"address": CHECKSUM + "\n"}, "^address: must be 0x and 40 hex digits"),
        ({"address": 12}, "^address: must be 0x and 40 hex digits, not '12'"),
        ({"decimals": -1}, "^decimals: must be an int from 0 to 77, not -1"),
        ({"decimals": 78}, "^decimals: must be an int from 0 to 77, not 78"),
        ({"decimals": "18"}, "^decimals: must be an int from 0 to 77, not '18'"),
        ({"decimals": True}, "^decimals: must be an int from 0 to 77, not True"),
        ({"chain_id": "1"}, "^chain_id: must be an int of at least 1, .* not '1'"),
        ({"chain_id": 0}, "^chain_id: must be an int of at least 1, .* not 0"),
        ({"chain_id": True}, "^chain_id: must be an int of at least 1, .* not True"),
        ({"symbol": None}, "^symbol: must be text, such as 'WETH', not None"),
    ],
)
def test_what_no_contract_has_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        replace(WETH, **changes)


def test_a_token_of_as_many_decimals_as_there_may_be_comes_back_from_a_file(tmp_path: Path) -> None:
    fine = replace(WETH, decimals=77, symbol="")
    pool = ConstantProductPool(
        id="1:p", protocol="p", token0=fine, token1=token("B"), reserve0=10**33, reserve1=1, fee_pips=0
    )
    Snapshot([pool]).save(tmp_path / "market.json")
    loaded = Snapshot.load(tmp_path / "market.json")
    assert [(each.symbol, each.decimals) for each in loaded.markets["1:p"].tokens] == [("", 77), ("B", 18)]


@pytest.mark.parametrize(("amount", "shown"), [(15 * 10**17, "1.5 WETH@1"), (np.int64(10**18), "1 WETH@1")])
def test_amounts_are_shown_in_whole_tokens(amount: int, shown: str) -> None:
    assert WETH.show(amount) == shown


def test_a_symbol_steers_no_terminal() -> None:
    """`print(route)` had written what a contract calls itself as it is."""
    hostile = Token(chain_id=1, address="0x" + "11" * 20, symbol="A\x1b[2J", decimals=6)
    assert str(hostile) == "A\N{REPLACEMENT CHARACTER}[2J@1"


@pytest.mark.parametrize("amount", [1.5, "1.5", True, None])
def test_an_amount_that_is_no_integer_is_not_shown(amount: Any) -> None:
    with pytest.raises(InvalidRequest, match=f"amount: must be an int in smallest units of WETH@1, not '{amount}'"):
        WETH.show(amount)


def test_more_digits_than_python_writes_are_no_amount() -> None:
    with pytest.raises(InvalidRequest, match="amount: has more than 100 digits"):
        WETH.units(10**5000)


def test_a_file_with_such_a_token_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    Snapshot.sandbox().save(path)
    document = json.loads(path.read_text())
    document["tokens"][3][1] = "0x" + "z" * 40
    path.write_text(json.dumps(document))
    with pytest.raises(BadMarketFile, match=r"tokens\.3\.address: must be 0x and 40 hex digits"):
        Snapshot.load(path)
    row = {"address": "0x" + "z" * 40, "symbol": "Z", "decimals": 18}
    pool = {"id": "1:z", "type": "cpmm", "chain_id": 1, "tokens": [row, row], "reserves": ["1", "1"], "fee": "0.003"}
    path.write_text(json.dumps({"pools": [pool]}))
    with pytest.raises(BadMarketFile, match=r"pools\.0\.tokens\.0\.address: must be 0x and 40 hex digits"):
        Snapshot.load(path)
