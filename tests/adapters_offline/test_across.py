"""Across: its recorded answers as lanes, and what happens when they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.base import BadPayload, Declined, FirmQuotes
from adapters.bridges.across.adapter import AcrossAdapter, read_directions, read_fees, read_lane
from adapters.bridges.common import Direction
from adapters.http.json_fields import Field
from adapters.testing import ReplayClient, check_adapter
from routing_engine.market import Limits
from routing_engine.model import Token
from routing_engine.reference import token_registry
from tests.adapters_offline.conftest import Samples

WETH = Direction(token_registry.token("WETH", 1), token_registry.token("WETH", 10))
USDC = Direction(token_registry.token("USDC", 1), token_registry.token("USDC", 137))
POLYGON_E = Direction(token_registry.token("USDC", 1), token_registry.token("USDC.e", 137))
URL = "https://across.test/api"
RECIPIENT = "0x" + "12" * 20

ROUTES = [
    {
        "originChainId": each.token_in.chain_id,
        "originToken": each.token_in.address,
        "destinationChainId": each.token_out.chain_id,
        "destinationToken": each.token_out.address,
        "originTokenSymbol": each.token_in.symbol,
        "destinationTokenSymbol": each.token_out.symbol,
    }
    for each in (WETH, WETH, USDC, POLYGON_E)
]


def fees(**changes: Any) -> dict[str, Any]:
    """An answer as the service's own source composes it, for a thousand dollars."""
    return {
        "estimatedFillTimeSec": 4,
        "relayerCapitalFee": {"pct": "100000000000000", "total": "100000"},
        "relayerGasFee": {"pct": "50000000000000", "total": "50000"},
        "lpFee": {"pct": "30000000000000", "total": "30000"},
        "timestamp": "1772366400",
        "spokePoolAddress": "0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5",
        "exclusiveRelayer": "0x0000000000000000000000000000000000000000",
        "exclusivityDeadline": 0,
        "fillDeadline": "1772380800",
        "limits": {"minDeposit": "500000", "maxDeposit": "9000000000", "maxDepositInstant": "2000000000"},
        "inputToken": {"address": USDC.token_in.address, "symbol": "USDC", "decimals": 6, "chainId": 1},
        **changes,
    }


def question(direction: Direction, amount: int, more: str = "") -> str:
    return (
        f"{URL}/suggested-fees?inputToken={direction.token_in.address}&outputToken={direction.token_out.address}"
        f"&originChainId={direction.token_in.chain_id}&destinationChainId={direction.token_out.chain_id}&amount={amount}{more}"
    )


def answers() -> dict[str, Any]:
    others = fees()
    del others["inputToken"]
    return {
        f"{URL}/available-routes": ROUTES,
        question(WETH, 5 * 10**17): others,
        question(USDC, 10**9): fees(),
        question(POLYGON_E, 10**9): fees(estimatedFillTimeSec="91"),
    }


def adapter(client: ReplayClient, tokens: tuple[Token, ...]) -> AcrossAdapter:
    return AcrossAdapter(client, tokens, URL)


def test_it_conforms(tokens: tuple[Token, ...]) -> None:
    contents = check_adapter(lambda client: adapter(client, tokens), answers())
    assert [market.id for market in contents.markets] == [
        f"across:1-10:{WETH.token_in.address}",
        f"across:1-137:{USDC.token_in.address}",
        f"across:1-137:{USDC.token_in.address}-{POLYGON_E.token_out.address}",
    ]


def test_fees_and_limits_to_the_unit() -> None:
    made = read_lane(USDC, fees())
    hop, _ = made.swap_exact_in(USDC.token_in, USDC.token_out, 10**9)
    assert {fee.name: fee.amount for fee in hop.fees} == {
        "relayer_fee": 100_000,
        "lp_fee": 30_000,
        "destination_gas_fee": 50_000,
    }
    assert hop.amount_out == 10**9 - 180_000
    assert made.limits(USDC.token_in, USDC.token_out) == Limits(500_000, 2_000_000_000)
    assert hop.fill_time_s == 4


def test_a_declined_route_is_left_out(tokens: tuple[Token, ...]) -> None:
    recorded = answers() | {question(USDC, 10**9): Declined("amount too low", status=400)}
    made = adapter(ReplayClient(recorded), tokens)
    assert len(made.parse(made.fetch()).markets) == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"relayerCapitalFee": {"pct": 1e14}}, "relayerCapitalFee.pct"),
        ({"relayerCapitalFee": {"pct": "200000000000000000"}}, "relayerCapitalFee.pct"),
        ({"relayerGasFee": {"total": "-1"}}, "relayerGasFee.total"),
        ({"lpFee": None}, "lpFee"),
        ({"limits": "many"}, "limits"),
        ({"limits": {"minDeposit": "1", "maxDeposit": "2"}}, "limits.maxDepositInstant"),
        ({"estimatedFillTimeSec": "soon"}, "estimatedFillTimeSec"),
        ({"inputToken": {"address": USDC.token_in.address, "decimals": 18, "chainId": 1}}, "inputToken.decimals"),
        ({"outputToken": {"address": WETH.token_in.address, "decimals": 6, "chainId": 137}}, "outputToken.address"),
    ],
)
def test_a_changed_field_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(BadPayload, match=f"^across 1-137 USDC: {field} "):
        read_lane(USDC, fees(**changes))


def test_a_firm_quote_is_asked_for_this_amount_and_recipient(tokens: tuple[Token, ...]) -> None:
    hop, _ = read_lane(USDC, fees()).swap_exact_in(USDC.token_in, USDC.token_out, 1_500_000_000)
    dearer = fees(relayerGasFee={"pct": "1", "total": "90000"})
    made = adapter(ReplayClient({question(USDC, 1_500_000_000, f"&recipient={RECIPIENT}"): dearer}), tokens)
    assert isinstance(made, FirmQuotes)
    quote = made.confirm(hop, sender=RECIPIENT, recipient=RECIPIENT)
    assert hop.amount_out - quote.hop.amount_out == 40_000
    assert quote.terms == {
        "timestamp": 1772366400,
        "exclusivityDeadline": 0,
        "fillDeadline": 1772380800,
        "spokePoolAddress": "0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5",
        "exclusiveRelayer": "0x" + "00" * 20,
    }


def test_a_firm_quote_beyond_the_limits_is_declined(tokens: tuple[Token, ...]) -> None:
    hop, _ = read_lane(USDC, fees()).swap_exact_in(USDC.token_in, USDC.token_out, 1_500_000_000)
    drained = fees(limits={"minDeposit": "500000", "maxDeposit": "9000000000", "maxDepositInstant": "1000000000"})
    made = adapter(ReplayClient({question(USDC, 1_500_000_000, f"&recipient={RECIPIENT}"): drained}), tokens)
    with pytest.raises(Declined, match="AMOUNT_TOO_HIGH"):
        made.confirm(hop, sender=RECIPIENT, recipient=RECIPIENT)


@pytest.mark.shared_data
def test_every_recorded_sample(samples: Samples, tokens: tuple[Token, ...]) -> None:
    by_endpoint: dict[str, list[dict[str, Any]]] = {}
    for sample in samples("across"):
        if "response" in sample:
            by_endpoint.setdefault(sample["endpoint"], []).append(sample["response"])
    flat, nested = by_endpoint.pop("/api/suggested-fees")
    limits, later_limits = by_endpoint.pop("/api/limits")

    # What was really recorded in February 2023, for one ether: fees and limits apart, and no fill time yet.
    made = read_lane(WETH, flat | {"limits": limits, "estimatedFillTimeSec": 3})
    hop, _ = made.swap_exact_in(WETH.token_in, WETH.token_out, 10**18)
    assert 10**18 - hop.amount_out == int(flat["relayFeeTotal"]) == 360576379222652
    assert made.limits(*made.tokens) == Limits(3216075230431790, 175795030370782163843)
    assert (
        read_lane(WETH, flat | {"limits": later_limits, "estimatedFillTimeSec": 3}).max_amount_in
        == 148518401181482545509
    )
    with pytest.raises(BadPayload, match="limits is missing"):
        read_lane(WETH, flat)

    made = read_lane(USDC, nested)
    hop, _ = made.swap_exact_in(USDC.token_in, USDC.token_out, 10**8)
    assert 10**8 - hop.amount_out == 5_000 + 3_000 + 50_000
    assert made.limits(*made.tokens) == Limits(1_000_000, 100_000_000)
    assert hop.fill_time_s == 300

    (routes,) = by_endpoint.pop("/api/available-routes")
    assert read_directions(routes, {token.key: token for token in tokens}) == ()
    listed = {
        f"{row[f'{end}Token']}@{row[f'{end}ChainId']}": Token(
            chain_id=int(row[f"{end}ChainId"]), address=row[f"{end}Token"], symbol="USDC", decimals=6
        )
        for row in routes
        for end in ("origin", "destination")
    }
    assert [each.path for each in read_directions(routes, listed)] == ["1-137 USDC"]

    # A test's invention without rates, and other endpoints: none has what a lane needs.
    (invented,) = by_endpoint.pop("/api/limits + /api/suggested-fees")
    with pytest.raises(BadPayload, match="capitalFeePct is missing"):
        read_fees(Field(invented["suggested_fees"], "across"))
    (swap,) = by_endpoint.pop("GET /api/swap/approval")
    with pytest.raises(BadPayload, match=r"inputToken\.address must be"):
        read_lane(WETH, swap)
    (pool,) = by_endpoint.pop("/api/pools")
    with pytest.raises(BadPayload, match="limits is missing"):
        read_lane(WETH, pool)
    assert not by_endpoint, "a sample has no test"


@pytest.mark.shared_data
def test_the_whole_route_table(shared_data: Path, tokens: tuple[Token, ...]) -> None:
    """The table behind ``/available-routes``, written the way the service's source writes it."""
    table = json.loads((shared_data / "bridge_responses" / "across_routes_5chains.json").read_text())["routes"]
    rows = [
        {
            "originChainId": row["fromChain"],
            "originToken": row["fromTokenAddress"],
            "destinationChainId": row["toChain"],
            "destinationToken": row["toTokenAddress"],
        }
        for row in table
    ]
    found = read_directions(rows, {token.key: token for token in tokens})
    assert len(table) == 202
    assert len(found) == 156
    assert Direction(token_registry.token("USDC", 8453), token_registry.token("USDC.e", 137)) in found
    assert len({each.path for each in found}) == 156
