"""A chain that hangs takes the threads of those who ask it, and not all of them: against the real server."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import pytest
import requests

from adapters.base import Declined, FirmQuote, VenueUnavailable
from adapters.transactions.payment_builders import PaymentBuilders
from api.app import build_app
from api.domain.env import EnvMode
from api.domain.errors import ServiceUnavailable
from api.services.chains.chain_access import ChainAccess
from api.services.chains.screening import Screen
from api.services.chains.waiting_room import WaitingRoom
from api.services.resources import Resources
from routing_engine import Hop, Token
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.shop import Shop
from tests.support.stream import QUICK, served

on_one_database = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""What waits has asked the database already."""

BASE, OPTIMISM = 8453, 10
USDC = token_registry.token("USDC", BASE)
THREADS = 4
"""Of the server that `served` runs."""
MANY = 3 * THREADS
SOON_S = 1.0
PAYER = "0x" + "5a" * 20


class NoBridge:
    """Confirms nothing: nothing is signed here."""

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        raise Declined("no bridge here", status=404)


@dataclass
class HungChain:
    """Says nothing until it is let go, and then that it is down."""

    is_let_go: Event = field(default_factory=Event)

    def read_balance(self, token: Token, holder: str) -> int:
        self.is_let_go.wait(30)
        raise VenueUnavailable("it is down")

    def read_balances(self, tokens: Sequence[Token], holder: str) -> dict[Token, int]:
        self.is_let_go.wait(30)
        raise VenueUnavailable("it is down")


@contextmanager
def asked(url: str, bodies: Collection[dict[str, Any]]) -> Iterator[list[Any]]:
    """Ask all of it at once; the answers may take until after the block."""
    with ThreadPoolExecutor(len(bodies)) as pool:
        yield [pool.submit(requests.post, url, json=body, timeout=60) for body in bodies]


@pytest.fixture
def hung(
    resources: Resources, merchant: Merchant, clock: SettableClock, request: pytest.FixtureRequest
) -> Iterator[tuple[str, str, str]]:
    """A server whose chains hang, or whose screen does: its address, an order, and a quote for it."""
    chain = HungChain()
    chains: Any = {BASE: chain, OPTIMISM: chain}
    access = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=NoBridge())
    real = replace(resources, chain_access={EnvMode.TEST: access}, waiting_room=WaitingRoom(THREADS // 2))
    if hasattr(request, "param"):
        real = replace(real, screen=request.param(chain), lobby=WaitingRoom(THREADS // 2))
    app = build_app(real)
    shop = Shop(client=app.test_client(), resources=real, clock=clock, merchant=merchant)
    order_id = shop.create(order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6})
    body = {"chainId": BASE, "token": USDC.address}
    quote_id = shop.client.post(f"/payment/{order_id}/quote", json=body).get_json()["quote_id"]
    with ExitStack() as stack:
        address = stack.enter_context(served(app))
        stack.callback(chain.is_let_go.set)
        yield address, order_id, quote_id


def wallets(count: int) -> list[str]:
    return [f"0x{number + 1:040x}" for number in range(count)]


def require_prompt(address: str, order_id: str) -> None:
    """Require an answer to what needs no chain."""
    time.sleep(0.3)  # until all that hangs does
    for _ in range(3):
        began = time.monotonic()
        assert requests.get(f"http://{address}/payment/{order_id}/status", timeout=10).status_code == 200
        assert time.monotonic() - began < SOON_S


@on_one_database
def test_payments_on_a_chain_that_hangs_keep_nobody_else_waiting(hung: tuple[str, str, str]) -> None:
    address, order_id, quote_id = hung
    bodies = [{"quote_id": quote_id, "payer": wallet} for wallet in wallets(MANY)]
    with asked(f"http://{address}/payment/{order_id}/transactions", bodies) as answers:
        require_prompt(address, order_id)
        refused = [each.result() for each in answers if each.done()]
        assert len(refused) == MANY - 1, "one chain has half of the places"
        assert {(each.status_code, each.headers["Retry-After"]) for each in refused} == {(503, "5")}
        assert not [each for each in refused if "127.0.0.1" in each.text]


@on_one_database
def test_balances_on_chains_that_hang_keep_nobody_else_waiting(
    hung: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.services.checkout.options.PATIENCE_S", 20)
    address, order_id, _ = hung
    url = f"http://{address}/payment/{order_id}/options"
    assert requests.post(url, json={}, timeout=30).status_code == 200, "the prices are known"
    with asked(url, [{"account": wallet} for wallet in wallets(MANY)]) as answers:
        time.sleep(2)
        require_prompt(address, order_id)
        told = [each.result() for each in answers if each.done()]
        assert len(told) == MANY - 1
        assert all({row["chain_id"] for row in each.json()["unread"]} == {BASE, OPTIMISM} for each in told)


def hang_screen(chain: HungChain) -> Screen:
    def screen(addresses: Collection[str]) -> Collection[str]:
        chain.is_let_go.wait(3)
        raise TimeoutError

    return screen


@on_one_database
@pytest.mark.parametrize("hung", [hang_screen], indirect=True)
@pytest.mark.parametrize("what", ["payments", "routes"])
def test_a_check_of_addresses_that_hangs_keeps_nobody_else_waiting(hung: tuple[str, str, str], what: str) -> None:
    """Found: who only named a wallet held a thread of the server for as long as the operator's check took."""
    address, order_id, quote_id = hung
    url = f"http://{address}/payment/{order_id}/transactions"
    bodies = [{"quote_id": quote_id, "payer": wallet} for wallet in wallets(MANY)]
    if what == "routes":
        url = f"http://{address}/v1/routes"
        bodies = [{**QUICK, "payer": PAYER, "recipient": PAYER}] * MANY
    with asked(url, bodies) as answers:
        require_prompt(address, order_id)
        told = [each.result() for each in answers if each.done()]
        assert len(told) == MANY - 1, "the check has half of the places"
        if what == "payments":
            assert {(each.status_code, each.headers["Retry-After"]) for each in told} == {(503, "5")}


def test_a_place_is_given_back_whatever_happens() -> None:
    room = WaitingRoom(4)
    for _ in range(10):
        with pytest.raises(KeyError), room.enter(BASE):
            raise KeyError
    with room.enter(BASE), room.enter(BASE), room.enter(OPTIMISM):
        with pytest.raises(ServiceUnavailable), room.enter(BASE):
            pass
        with room.enter(OPTIMISM), pytest.raises(ServiceUnavailable), room.enter(1):
            pass
