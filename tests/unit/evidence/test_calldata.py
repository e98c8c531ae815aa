"""Calldata that somebody crafted: searched for addresses in one pass, and read as a call only if it is one."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import encode
from hypothesis import given
from hypothesis import strategies as st

from adapters.chain.deployments import read_deployments
from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.decoding import LONGEST, decode_payment
from adapters.transactions.payment_builders import PaymentBuilders
from api.domain.watched import Watched
from api.services.ledger.candidates import BytesSearch, search_addresses
from api.services.ledger.places import RelevanceSearch
from routing_engine.model import Hop
from routing_engine.reference import token_registry
from tests.support.traces import PAYER, REFERENCE, SHOP, TOKEN, TOOL


@given(before=st.binary(max_size=60), after=st.binary(max_size=60), number=st.integers(0, 2**160 - 1))
def test_an_address_is_found_wherever_it_stands(before: bytes, after: bytes, number: int) -> None:
    address = number.to_bytes(20)
    search = search_addresses([f"0x{address.hex()}", SHOP])
    assert search.has_any(before + address + after)
    assert search.is_named_in("0x" + (before + address + after).hex())
    assert search_addresses([]).has_any(address) is False


@given(data=st.binary(max_size=300))
def test_an_address_that_is_not_there_is_not_found(data: bytes) -> None:
    address = b"\x51" * 20
    assert search_addresses([SHOP]).has_any(data) == (address in data)


def test_crafted_calldata_is_searched_in_one_pass_for_however_many_addresses() -> None:
    """All of it begins like an address; counted is every place that is looked at."""
    wanted = [f"0x5151{number:036x}" for number in range(1, 2_001)]

    class Counted(bytes):
        looked = 0

        def __getitem__(self, key: Any) -> Any:
            Counted.looked += 1
            return bytes.__getitem__(self, key)

    places = []
    for length in (16_384, 98_304):
        Counted.looked = 0
        assert not search_addresses(wanted).has_any(Counted(b"\x51" * length))
        places.append(Counted.looked)
    assert places == [16_384 - 19, 98_304 - 19]


def test_what_was_reported_is_searched_in_one_pass_for_however_many_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: twenty reported transactions of 128 kB took three seconds of each look where there were 2,000 vendors."""
    search = RelevanceSearch(Watched.at([f"0x5151{number:036x}" for number in range(1, 2_001)]))
    looked: list[object] = []
    monkeypatch.setattr(BytesSearch, "is_named_in", lambda _, text: bool(looked.append(text)))
    asked = {"to": PAYER, "input": "0x" + "51" * 9_000}
    logs = [{"topics": ["0x" + "51" * 32], "data": "0x" + "51" * 32}] * 2
    assert not search.is_relevant({"logs": logs}, asked)
    assert looked == [asked["input"]] * 2 + [logs[0]["data"]] * 2


@pytest.mark.parametrize(
    ("asked", "log", "is_relevant"),
    [
        ({"to": SHOP}, {}, True),
        ({"to": PAYER, "input": "0x01" + SHOP[2:] + "02"}, {}, True),
        ({"to": PAYER, "input": "0x01"}, {"topics": ["0x" + "00" * 12 + SHOP[2:].upper()]}, True),
        ({"to": PAYER, "input": "0x01"}, {"topics": [], "data": "0x01" + SHOP[2:]}, True),
        ({"to": PAYER, "input": "0x01"}, {"address": SHOP, "topics": [], "data": "0x"}, True),
        ({"to": PAYER, "input": "0x01"}, {"topics": ["0x" + "00" * 12 + PAYER[2:]], "data": "0x01"}, False),
        ({"to": None, "input": None}, {"topics": None, "data": "0x"}, False),
    ],
)
def test_a_reported_transaction_matters_if_it_calls_or_names_a_vendor(
    asked: dict[str, Any], log: dict[str, Any], is_relevant: bool
) -> None:
    assert RelevanceSearch(Watched.at([SHOP])).is_relevant({"logs": [log]}, {"input": "0x", **asked}) == is_relevant


ROUTER = next(read_deployments("uniswap_v2", 8453)).get_address("router")
SWAP = bytes.fromhex("8803dbee") + encode(
    ["uint256", "uint256", "address[]", "address", "uint256"], [5, 9, [TOKEN, PAYER], SHOP, 2**40]
)


def test_a_call_that_is_built_is_read_back() -> None:
    usdc, dai = token_registry.token("USDC", 8453), token_registry.token("DAI", 8453)
    hop = Hop(market_id="x", protocol="uniswap_v2", token_in=usdc, token_out=dai, amount_in=9, amount_out=5)
    terms = Terms(payer=PAYER, recipient=SHOP, amount_in_max=9, amount_out=5, deadline=2**40)
    built = PaymentBuilders.load().build((PlannedHop(hop=hop),), usdc, terms)
    found = decode_payment(8453, built.to, built.data + REFERENCE)
    assert found is not None
    assert (found.token_address, found.recipient, found.amount, found.reference) == (dai.address, SHOP, 5, REFERENCE)


OTHERWISE: dict[str, tuple[str, bytes]] = {
    "another contract": (TOOL, SWAP),
    "cut off": (ROUTER, SWAP[:-1]),
    "more behind it than a reference": (ROUTER, SWAP + bytes(17)),
    "another function": (ROUTER, b"\0\0\0\0" + SWAP[4:]),
    "dirty padding": (ROUTER, SWAP[:-84] + b"\x01" + SWAP[-83:]),
    "too long": (ROUTER, SWAP + bytes(LONGEST)),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_call_that_is_anything_else_says_nothing(name: str) -> None:
    assert decode_payment(8453, ROUTER, SWAP) is not None
    assert decode_payment(8453, *OTHERWISE[name]) is None


@given(data=st.binary(max_size=400), name=st.sampled_from(["uniswap_v2", "uniswap_v3", "uniswap_v4", "cctp", "across"]))
def test_no_calldata_breaks_the_reading(data: bytes, name: str) -> None:
    field = {"cctp": "token_messenger", "across": "spoke_pool"}.get(name, "router")
    contract = next(read_deployments(name, 8453)).get_address(field)
    selectors = ("8803dbee", "5ae401dc", "3593564c", "779b432d", "7b939232")
    for selector in selectors:
        assert decode_payment(8453, contract, bytes.fromhex(selector) + data) is None
