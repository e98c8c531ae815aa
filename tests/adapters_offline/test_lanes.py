"""What the adapters of bridges share."""

from __future__ import annotations

import threading

import pytest

from adapters.base import BadPayload, Declined, VenueUnavailable
from adapters.bridges.common import AT_ONCE, Direction, ask_each, check_token, pair_assets
from adapters.http.json_fields import Field
from routing_engine.model import Token
from routing_engine.reference import token_registry

USDC = [token_registry.token("USDC", chain_id) for chain_id in (1, 10, 137, 8453, 42161)]
DIRECTIONS = tuple(pair_assets(USDC, ("USDC",), (1, 10, 137, 8453, 42161)))


def test_every_direction_between_listed_tokens_of_one_asset(tokens: tuple[Token, ...]) -> None:
    assert len(DIRECTIONS) == 20
    assert set(pair_assets(tokens, ("USDC",), (1, 10))) == {Direction(*USDC[:2]), Direction(*USDC[1::-1])}
    unlisted = Token(chain_id=10, address="0x" + "12" * 20, symbol="USDC", decimals=6)
    assert list(pair_assets([USDC[0], unlisted], ("USDC",), (1, 10))) == [], "a name is not enough"


def test_answers_come_in_order_and_a_few_are_asked_at_once() -> None:
    together = threading.Barrier(AT_ONCE, timeout=60)

    def ask(direction: Direction) -> str:
        together.wait()
        return direction.path

    assert ask_each(DIRECTIONS, ask) == tuple((each, each.path) for each in DIRECTIONS)


def test_what_is_declined_is_left_out_unless_it_is_everything() -> None:
    def ask(direction: Direction) -> int:
        if direction.token_in.chain_id == 1:
            raise Declined("paused", status=400)
        return 1

    assert len(ask_each(DIRECTIONS, ask)) == 16
    with pytest.raises(Declined, match="paused"):
        ask_each([each for each in DIRECTIONS if each.token_in.chain_id == 1], ask)
    assert ask_each([], ask) == ()


def test_after_a_failure_nothing_further_is_asked() -> None:
    asked: list[Direction] = []

    def ask(direction: Direction) -> None:
        asked.append(direction)
        threading.Event().wait(0.002)  # whoever hears of the failure has time to say so, on a busy machine too
        raise VenueUnavailable("away")

    with pytest.raises(VenueUnavailable, match="away"):
        ask_each(DIRECTIONS * 50, ask)
    assert len(asked) < len(DIRECTIONS) * 50


def test_a_token_that_is_meant_otherwise_is_refused() -> None:
    ether = token_registry.token("ETH", 1)
    check_token(Field({"chainId": 1, "decimals": 18, "address": "0x" + "00" * 20}, "x"), ether)
    check_token(Field({"chainId": "1", "decimals": 18, "address": ether.address}, "x"), ether)
    for change, field in (
        ({"chainId": 10}, "chainId"),
        ({"decimals": 6}, "decimals"),
        ({"address": USDC[0].address}, "address"),
    ):
        with pytest.raises(BadPayload, match=f"^x: {field} must be"):
            check_token(Field({"chainId": 1, "decimals": 18, "address": ether.address} | change, "x"), ether)
