"""Balances over all chains: no chain waits for another, and none is asked more than it must be."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.base import VenueUnavailable
from api.services.chains.balances import FRESH_S, MOST_AT_ONCE, BalanceReader
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


def test_a_chain_that_fails_says_nothing_rather_than_nought() -> None:
    reader = BalanceReader({BASE: FakeChain(fails=True), 10: FakeChain()})  # type: ignore[dict-item]
    assert reader.read({BASE: (USDC,), 10: ()}, PAYER, 5) == {10: {}}
