"""CCTP: its documented answers as lanes, and what happens when they change."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.base import BadPayload, Declined
from adapters.bridges.cctp.adapter import CctpAdapter, get_domain, read_allowance, read_lanes
from adapters.bridges.common import Direction
from adapters.testing import ReplayClient, check_adapter
from routing_engine.market import UNLIMITED
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.adapters_offline.conftest import Samples

URL = "https://iris.test"
HERE, THERE = token_registry.token("USDC", 1), token_registry.token("USDC", 8453)
BOTH = [{"finalityThreshold": 1000, "minimumFee": 1}, {"finalityThreshold": 2000, "minimumFee": 0}]
FORWARDED = [row | {"forwardFee": {"low": 190_000, "med": 200_000, "high": 210_000}} for row in BOTH]
ACCOUNT = "0x" + "12" * 20


def answers() -> dict[str, Any]:
    fees = {
        f"{URL}/v2/burn/USDC/fees/{source}/{target}?forward=true": FORWARDED
        for source in map(get_domain, CHAINS)
        for target in map(get_domain, CHAINS)
        if source != target
    }
    return fees | {f"{URL}/v2/fastBurn/USDC/allowance": {"allowance": 99999999225.24174, "lastUpdated": "x"}}


def test_it_conforms(tokens: tuple[Token, ...]) -> None:
    contents = check_adapter(lambda client: CctpAdapter(client, tokens, URL), answers())
    by_protocol = [market.protocol for market in contents.markets]
    assert by_protocol.count("cctp_standard") == 20
    assert by_protocol.count("cctp_fast") == 16, "Polygon is final so soon that there is no fast transfer from it"
    assert by_protocol.count("cctp_standard_forwarded") == 20
    assert by_protocol.count("cctp_fast_forwarded") == 16


def test_circle_takes_a_fee_of_its_own_for_minting() -> None:
    fast, forwarded, _, slow = read_lanes(Direction(HERE, THERE), FORWARDED, 5 * 10**12)
    kept = [10**9 - lane.swap_exact_in(HERE, THERE, 10**9)[0].amount_out for lane in (fast, forwarded, slow)]
    assert kept == [100_000, 310_000, 210_000]
    assert [fee.name for fee in forwarded.fees] == ["protocol_fee", "destination_gas_fee"]
    assert (forwarded.protocol, forwarded.fill_time_s) == ("cctp_fast_forwarded", fast.fill_time_s)
    assert forwarded.max_amount_in == 5 * 10**12


def test_fees_times_and_the_allowance() -> None:
    fast, standard = read_lanes(Direction(HERE, THERE), BOTH, 5 * 10**12)
    hop, _ = fast.swap_exact_in(HERE, THERE, 10**9 + 1)
    assert (hop.amount_out, hop.fill_time_s, fast.max_amount_in) == (10**9 + 1 - 100_001, 22, 5 * 10**12)
    hop, _ = standard.swap_exact_in(HERE, THERE, 10**9 + 1)
    assert (hop.amount_out, hop.fill_time_s, standard.max_amount_in) == (10**9 + 1, 962, UNLIMITED)


@pytest.mark.parametrize(
    ("allowance", "units"), [(99999999225.24174, 99999999225241740), (0, 0), ("1.9999999", 1999999), (1e-7, 0)]
)
def test_the_allowance_is_rounded_down_to_units(allowance: object, units: int) -> None:
    assert read_allowance({"allowance": allowance}) == units


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({}, ""),
        ([{"minimumFee": 1}], r"\[0\]: finalityThreshold"),
        ([BOTH[0], {"finalityThreshold": 2000, "minimumFee": "free"}], r"\[1\]: minimumFee"),
        ([{"finalityThreshold": 1000, "minimumFee": -1}], r"\[0\]: minimumFee"),
        ([{"finalityThreshold": 1000, "minimumFee": 9_999}], r"\[0\]: minimumFee"),
        ([{"finalityThreshold": "fast", "minimumFee": 1}], r"\[0\]: finalityThreshold"),
        (BOTH * 9, ""),
        ([BOTH[0] | {"forwardFee": {"low": 1}}], r"\[0\]: forwardFee.high"),
        ([BOTH[0] | {"forwardFee": {"high": 10**10}}], r"\[0\]: forwardFee.high"),
    ],
)
def test_a_changed_field_is_named(answer: Any, field: str) -> None:
    with pytest.raises(BadPayload, match=f"^cctp 1-8453 USDC{field} "):
        list(read_lanes(Direction(HERE, THERE), answer, 1))


def test_unknown_thresholds_are_passed_over() -> None:
    (only,) = read_lanes(Direction(HERE, THERE), [{"finalityThreshold": 500, "minimumFee": 2}, BOTH[1]], 1)
    assert only.protocol == "cctp_standard"


def test_a_firm_quote_asks_again(tokens: tuple[Token, ...]) -> None:
    fast, standard = read_lanes(Direction(HERE, THERE), BOTH, 10**12)
    hop, _ = fast.swap_exact_in(HERE, THERE, 10**9)
    question = f"{URL}/v2/burn/USDC/fees/0/6?forward=true"
    dearer = answers() | {question: [{"finalityThreshold": 1000, "minimumFee": 1.3}]}
    adapter = CctpAdapter(ReplayClient(dearer), tokens, URL)
    quote = adapter.confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)
    assert quote.hop.amount_out == 10**9 - 130_000
    assert quote.terms == {"maxFee": 130_000, "minFinalityThreshold": 1000}
    slow, _ = standard.swap_exact_in(HERE, THERE, 10**9)
    with pytest.raises(Declined, match="cctp_standard is not offered"):
        adapter.confirm(slow, sender=ACCOUNT, recipient=ACCOUNT)
    empty = answers() | {f"{URL}/v2/fastBurn/USDC/allowance": {"allowance": 999}}
    with pytest.raises(Declined, match="AMOUNT_TOO_HIGH"):
        CctpAdapter(ReplayClient(empty), tokens, URL).confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)


@pytest.mark.shared_data
def test_every_recorded_sample(samples: Samples) -> None:
    documented, fractional = (sample["response"] for sample in samples("cctp_v2"))
    fast, standard = read_lanes(Direction(HERE, THERE), documented, 10**15)
    assert 10**10 - fast.swap_exact_in(HERE, THERE, 10**10)[0].amount_out == 10**6
    assert standard.swap_exact_in(HERE, THERE, 10**10)[0].amount_out == 10**10
    (dearer,) = read_lanes(Direction(HERE, THERE), fractional, 10**15)
    assert 10**10 - dearer.swap_exact_in(HERE, THERE, 10**10)[0].amount_out == 1_300_000
