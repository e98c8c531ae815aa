"""The worker on real chains: one that hangs delays no other, and one on which nothing happens costs little."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.domain.clock import SystemClock
from api.domain.env import EnvMode
from api.services.ledger.chain_ledger import connect_ledger
from api.services.resources import Resources
from api.services.settlement.watching.progress import Progress
from api.services.settlement.watching.watch_tasks import REQUESTS_A_MINUTE, ChainTasks, Look
from api.services.settlement.watching.watcher import look
from api.storage.tables import WatchCursor
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop
from tests.support.silence import never_answering

BASE, HUNG = 8453, 10
BLOCK_S = 1.0
SEEN_S = 2 * BLOCK_S + 2
PATIENCE_S = 30
MINUTE_S = 60


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as running:
        yield running


@pytest.fixture
def shop(net: MainNet, tmp_path: Path) -> Iterator[ChainShop]:
    with chain_shop({BASE: net}, tmp_path, "tasks") as opened:
        yield opened


@contextmanager
def mining(net: MainNet, block_s: float) -> Iterator[None]:
    """Let the chain mine by itself, in step with the clock."""
    net.chain.rpc("anvil_setTime", int(time.time()))
    net.chain.rpc("evm_setIntervalMining", 0)
    stopping = threading.Event()

    def mine() -> None:
        while not stopping.wait(block_s):
            net.chain.mine()

    thread = threading.Thread(target=mine)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def in_real_time(shop: ChainShop, urls: dict[int, tuple[str, ...]]) -> Resources:
    clock = SystemClock()
    return replace(shop.shop.resources, clock=clock, ledgers={EnvMode.TEST: connect_ledger(urls, EnvMode.TEST, clock)})


def wait_until(condition: Callable[[], bool]) -> float:
    started, pause = time.monotonic(), threading.Event()
    while not condition():
        assert time.monotonic() - started < PATIENCE_S
        pause.wait(0.02)
    return time.monotonic() - started


def test_a_chain_that_hangs_delays_no_other(shop: ChainShop, net: MainNet) -> None:
    customer = shop.customer(BASE)
    with never_answering() as url, mining(net, BLOCK_S):
        shop.clock.set(datetime.now(UTC))
        resources = in_real_time(shop, {BASE: (net.chain.url,), HUNG: (url,)})
        tasks = ChainTasks()
        tasks.run(resources)
        try:
            wait_until(lambda: has_cursor(resources))
            for _ in range(3):
                shop.clock.set(datetime.now(UTC))
                order_id, reference = shop.order()
                customer.pay(shop.token(BASE), shop.address, PRICE, reference)
                assert wait_until(lambda order_id=order_id: shop.outcome(order_id) != "created/") < SEEN_S
                assert wait_until(lambda order_id=order_id: shop.outcome(order_id) == "success/") < SEEN_S
        finally:
            tasks.end()


def has_cursor(resources: Resources) -> bool:
    with resources.database.read() as session:
        return session.get(WatchCursor, ("test", BASE)) is not None


@pytest.mark.parametrize("block_s", [0.25, 12])
def test_an_idle_chain_costs_at_most_sixty_requests_a_minute(shop: ChainShop, net: MainNet, block_s: float) -> None:
    """The looks of a minute, with the time between them skipped: each mines what the pause before it would have."""
    shop.order()
    (resources,) = [shop.shop.resources]
    ledger, progress = resources.ledgers[EnvMode.TEST], Progress()
    shop.pass_time(1)
    look(resources, EnvMode.TEST, ledger, BASE, progress)
    begun, passed, mined = ledger.count_requests(BASE), 0.0, 0
    while passed < MINUTE_S:
        before = ledger.count_requests(BASE)
        progress.begin()
        assert look(resources, EnvMode.TEST, ledger, BASE, progress)
        passed += Look(cost=ledger.count_requests(BASE) - before, took_s=0, has_found=progress.has_found).pause_s
        blocks = int(passed / block_s) - mined
        mined += blocks
        if blocks:
            shop.pass_time(max(1, blocks * block_s), blocks)
        else:
            shop.clock.advance(seconds=1)
    cost = ledger.count_requests(BASE) - begun
    print(f"blocks of {block_s} s: {cost} requests in a minute")
    assert cost <= 60
    assert progress.reached is not None
    assert net.chain.number - progress.reached.number <= 10


def test_the_pause_after_a_look() -> None:
    cheap, dear, least_s = Look(cost=1, took_s=0.1), Look(cost=4, took_s=0.1), 60 / REQUESTS_A_MINUTE
    assert cheap.pause_s == pytest.approx(least_s - 0.1)
    assert dear.pause_s == pytest.approx(4 * least_s - 0.1)
    assert replace(dear, is_waiting=True).pause_s == pytest.approx(0.9)
    assert replace(dear, is_waiting=True, has_found=True).pause_s < 0.1
    assert replace(dear, is_waiting=True, has_found=True, is_hurried=True).pause_s == pytest.approx(0.9)
    assert replace(dear, is_behind=True).pause_s == 0
    assert replace(dear, cost=1000).pause_s <= 10
