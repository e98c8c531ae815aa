"""Balances over all chains: no chain waits for another, and none is asked more than it must be."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from adapters.base import VenueUnavailable
from api.services.chains import balances
from api.services.chains.balances import BalanceReader
from api.services.chains.inquiries import FRESH_S, MINUTE_S, MOST_AT_ONCE
from routing_engine import Token
from routing_engine.reference import token_registry

BASE = 8453
PAYER = "0x" + "aa" * 20
USDC = token_registry.token("USDC", BASE)


@dataclass
class FakeChain:
    """A chain on which nobody holds anything, and which says so when it is told to."""

    fails: bool = False
    opens: threading.Event | None = None
    asked: int = 0

    def read_balances(self, tokens: Sequence[Token], holder: str) -> dict[Token, int]:
        self.asked += 1
        if self.opens is not None:
            self.opens.wait(10)
        if self.fails:
            raise VenueUnavailable("it is down")
        return dict.fromkeys(tokens, 0)


def test_the_same_question_is_put_to_a_chain_once() -> None:
    chain, now = FakeChain(), [0.0]
    reader = BalanceReader({BASE: chain}, stopwatch=lambda: now[0])  # type: ignore[dict-item]
    for _ in range(3):
        assert reader.read({BASE: (USDC,)}, PAYER, 5) == {BASE: {USDC: 0}}
    assert chain.asked == 1
    now[0] = FRESH_S + 1
    reader.read({BASE: (USDC,)}, PAYER, 5)
    assert chain.asked == 2


def test_a_chain_that_hangs_takes_few_threads() -> None:
    opens = threading.Event()
    chain = FakeChain(opens=opens)
    reader = BalanceReader({BASE: chain})  # type: ignore[dict-item]
    for number in range(MOST_AT_ONCE + 5):
        assert reader.read({BASE: (USDC,)}, f"0x{number:040x}", 0.01) == {}
    assert chain.asked == MOST_AT_ONCE
    opens.set()
    deadline = time.monotonic() + 5
    while reader.read({BASE: (USDC,)}, PAYER, 1) == {} and time.monotonic() < deadline:
        pass
    assert reader.read({BASE: (USDC,)}, PAYER, 1) == {BASE: {USDC: 0}}


def test_who_asks_again_waits_no_longer_than_who_asked_first() -> None:
    opens = threading.Event()
    reader = BalanceReader({BASE: FakeChain(opens=opens)})  # type: ignore[dict-item]
    assert reader.read({BASE: (USDC,)}, PAYER, 0.2) == {}
    began = time.monotonic()
    for _ in range(20):
        assert reader.read({BASE: (USDC,)}, PAYER, 0.2) == {}
    assert time.monotonic() - began < 0.2
    opens.set()


def test_strangers_have_a_share_of_an_operators_quota_from_however_many_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(balances, "MOST_A_MINUTE", 3)
    chains, now = {BASE: FakeChain(), 10: FakeChain()}, [0.0]
    reader = BalanceReader(chains, stopwatch=lambda: now[0])  # type: ignore[arg-type]
    told = [reader.read({BASE: (USDC,)}, f"0x{number:040x}", 5) for number in range(5)]
    assert [bool(each) for each in told] == [True, True, True, False, False]
    assert reader.read({BASE: (USDC,)}, f"0x{0:040x}", 5), "what was read is still told"
    assert reader.read({10: ()}, PAYER, 5), "another chain has its own"
    now[0] = MINUTE_S
    assert reader.read({BASE: (USDC,)}, PAYER, 5)
    assert chains[BASE].asked == 4


def test_a_chain_that_fails_says_nothing_rather_than_nought() -> None:
    reader = BalanceReader({BASE: FakeChain(fails=True), 10: FakeChain()})  # type: ignore[dict-item]
    assert reader.read({BASE: (USDC,), 10: ()}, PAYER, 5) == {10: {}}
