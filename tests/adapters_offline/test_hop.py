"""Hop: its documented answer, and lanes between two answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import BadPayload, Declined
from adapters.bridges.common import Direction
from adapters.bridges.hop import HopAdapter, Quote, read_lane, read_quote
from adapters.testing import ReplayClient, check_adapter
from routing_engine.market import Limits
from routing_engine.model import Token
from routing_engine.reference import token_registry
from tests.adapters_offline.conftest import Samples

URL = "https://hop.test/v1"
HERE, THERE = token_registry.token("USDC.e", 10), token_registry.token("USDC.e", 42161)
DIRECTION = Direction(HERE, THERE)
ACCOUNT = "0x" + "12" * 20


def answer(amount: int, received: int, **changes: Any) -> dict[str, Any]:
    return {
        "amountIn": str(amount),
        "slippage": 0.5,
        "amountOutMin": str(received * 995 // 1000),
        "destinationAmountOutMin": str(received * 99 // 100),
        "bonderFee": "250515",
        "estimatedRecieved": str(received),
        "deadline": 1679862208,
        "destinationDeadline": 1679862208,
        **changes,
    }


def question(amount: int) -> str:
    return f"{URL}/quote?amount={amount}&token=USDC.e&fromChain=optimism&toChain=arbitrum&slippage=0.5"


def test_it_conforms() -> None:
    tokens = (HERE, THERE)
    recorded = {
        question(10**8): answer(10**8, 99_700_000),
        question(10**10): answer(10**10, 9_990_000_000),
        f"{URL}/quote?amount={10**8}&token=USDC.e&fromChain=arbitrum&toChain=optimism&slippage=0.5": answer(
            10**8, 99_600_000
        ),
        f"{URL}/quote?amount={10**10}&token=USDC.e&fromChain=arbitrum&toChain=optimism&slippage=0.5": answer(
            10**10, 9_980_000_000
        ),
    }
    contents = check_adapter(lambda client: HopAdapter(client, tokens, URL), recorded)
    assert [market.id for market in contents.markets] == [
        f"hop:10-42161:{HERE.address}",
        f"hop:42161-10:{THERE.address}",
    ]


def test_all_directions_are_asked_and_a_service_that_declines_every_one_declines(tokens: tuple[Token, ...]) -> None:
    asked: list[tuple[object, ...]] = []

    class Declining(ReplayClient):
        def get(self, url: str, params: Any = None) -> Any:
            asked.append((params["token"], params["fromChain"], params["toChain"]))
            raise Declined("no liquidity", status=400)

    with pytest.raises(Declined, match="no liquidity"):
        HopAdapter(Declining({}), tokens, URL).fetch()
    assert len(set(asked)) == 5 * 4 + 3 * 4 * 3 == 56, "ether on five chains, and three dollars on four"


def test_the_lane_meets_both_quotes_but_for_a_unit_of_rounding() -> None:
    made = read_lane(DIRECTION, answer(10**8, 99_700_000), answer(10**10, 9_990_000_000))
    assert made.limits(HERE, THERE) == Limits(10**8, 10**10)
    assert made.swap_exact_in(HERE, THERE, 10**8)[0].amount_out == 99_700_000 - 1
    assert made.swap_exact_in(HERE, THERE, 10**10)[0].amount_out == 9_990_000_000 - 1


@given(st.integers(0, 5_000_000), st.integers(0, 400), st.integers(10**8, 10**10))
def test_between_the_quotes_it_gives_no_more_than_a_convex_cost_leaves(flat: int, curvature: int, amount: int) -> None:
    def received(x: int) -> int:
        return x - flat - x * x * curvature // 10**14

    made = read_lane(DIRECTION, *(answer(x, received(x)) for x in (10**8, 10**10)))
    assert made.swap_exact_in(HERE, THERE, amount)[0].amount_out <= received(amount)


def test_a_bonus_is_not_promised() -> None:
    made = read_lane(DIRECTION, answer(10**8, 100_500_000), answer(10**10, 10_050_000_000))
    assert made.swap_exact_in(HERE, THERE, 10**9)[0].amount_out == 10**9


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"estimatedRecieved": 1e6}, "estimatedRecieved"),
        ({"estimatedRecieved": "2000000"}, "estimatedRecieved"),
        ({"amountIn": "0"}, "amountIn"),
        ({"amountIn": None}, "amountIn"),
    ],
)
def test_a_changed_field_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(BadPayload, match=f"^hop 10-42161 USDC.e: {field} must"):
        read_quote(DIRECTION, answer(10**6, 747908, **changes))


def test_quotes_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(BadPayload, match="amountIn must be at most"):
        read_lane(DIRECTION, answer(10**10, 9_990_000_000), answer(10**8, 99_700_000))


def test_a_firm_quote_is_for_this_amount(tokens: tuple[Token, ...]) -> None:
    hop, _ = read_lane(DIRECTION, answer(10**8, 99_700_000), answer(10**10, 9_990_000_000)).swap_exact_in(
        HERE, THERE, 10**9
    )
    adapter = HopAdapter(ReplayClient({question(10**9): answer(10**9, 998_500_000)}), tokens, URL)
    firm = adapter.confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)
    assert firm.hop.amount_out == 998_500_000
    assert firm.terms["bonderFee"] == 250515
    assert firm.terms["deadline"] == 1679862208
    other = HopAdapter(ReplayClient({question(10**9): answer(10**8, 99_850_000)}), tokens, URL)
    with pytest.raises(BadPayload, match="amountIn must be from 1000000000"):
        other.confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)


@pytest.mark.shared_data
def test_every_recorded_sample(samples: Samples) -> None:
    (sample,) = samples("hop")
    assert read_quote(DIRECTION, sample["response"]) == Quote(amount_in=1_000_000, received=747_908)
    made = read_lane(DIRECTION, sample["response"], sample["response"])
    hop, _ = made.swap_exact_in(HERE, THERE, 1_000_000)
    assert hop.amount_out == 747_908
    assert hop.fees[0].amount == 252_092  # the bonder's 250515, and what both exchanges took
