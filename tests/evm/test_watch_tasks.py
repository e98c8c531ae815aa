"""The worker on real chains: one that hangs delays no other, and one on which nothing happens costs little."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.rpc.endpoint_pool import RpcPool
from api.domain.clock import SystemClock
from api.domain.env import EnvMode
from api.domain.ledger import Head
from api.services.ledger.chain_ledger import ChainLedger, connect_pools
from api.services.resources import Resources
from api.services.settlement.watching.progress import Progress
from api.services.settlement.watching.watch_tasks import REQUESTS_A_MINUTE, ChainTask, Look
from api.services.settlement.watching.watched_chain import list_groups
from api.services.settlement.watching.watcher import look
from api.storage.tables import WatchCursor
from tests.support.databases import Databases
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop
from tests.support.silence import never_answering

BASE, HUNG = 8453, 10
BLOCK_S = 1.0
PATIENCE_S = 60
MINUTE_S = 60


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as running:
        yield running


@pytest.fixture
def shop(net: MainNet, tmp_path: Path, databases: Databases) -> Iterator[ChainShop]:
    with chain_shop({BASE: net}, tmp_path, "tasks", databases.lend("sqlite")) as opened:
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


class HangingLedger(ChainLedger):
    """One whose chain `HUNG` answers nothing before `ending` is set, however patient its reader is."""

    def __init__(self, pools: Mapping[int, RpcPool], ending: threading.Event) -> None:
        super().__init__(pools, is_rehearsal=True)
        self.asked = threading.Event()
        self._ending = ending

    def read_head(self, chain_id: int) -> Head:
        if chain_id == HUNG:
            self.asked.set()
            self._ending.wait()
        return super().read_head(chain_id)


@pytest.fixture
def hanging(net: MainNet) -> Iterator[HangingLedger]:
    ending = threading.Event()
    with never_answering() as url:
        urls = {BASE: (net.chain.url,), HUNG: (url,)}
        yield HangingLedger(connect_pools(urls, EnvMode.TEST, SystemClock()), ending)
        ending.set()


def wait_until(condition: Callable[[], bool], what: str) -> float:
    started, pause = time.monotonic(), threading.Event()
    while not condition():
        assert time.monotonic() - started < PATIENCE_S, f"never: {what}"
        pause.wait(0.02)
    return time.monotonic() - started


def test_a_chain_that_hangs_delays_no_other(shop: ChainShop, net: MainNet, hanging: HangingLedger) -> None:
    """Its first look never ends while three payments succeed elsewhere; how long they take is printed."""
    customer = shop.customer(BASE)
    with mining(net, BLOCK_S):
        shop.clock.set(datetime.now(UTC))
        resources = replace(shop.shop.resources, clock=SystemClock(), ledgers={EnvMode.TEST: hanging})
        tasks = [ChainTask(group) for group in list_groups(resources.ledgers)]
        for task in tasks:
            task.run(resources)
        try:
            assert hanging.asked.wait(PATIENCE_S)
            wait_until(lambda: has_cursor(resources), "a first look")
            for _ in range(3):
                shop.clock.set(datetime.now(UTC))
                order_id, reference = shop.order()
                customer.pay(shop.token(BASE), shop.address, PRICE, reference)
                seen_s = wait_until(lambda order_id=order_id: shop.outcome(order_id) != "created/", "seen")
                settled_s = wait_until(lambda order_id=order_id: shop.outcome(order_id) == "success/", "success")
                print(f"seen after {seen_s:.1f} s, success {settled_s:.1f} s later")
        finally:
            for task in tasks:
                task.end()


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
