"""The worker when things hang: block to webhook beside a chain that never answers, idle cost, replacing a leader.

The figures are printed with ``-s``, and stand in `extra_info` of the results.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from api.domain.clock import SystemClock
from api.domain.duties import Duty
from api.domain.env import EnvMode
from api.services.ledger.chain_ledger import connect_ledger
from api.services.resources import Resources
from api.services.settlement.watching.watch_tasks import ChainTask
from api.services.settlement.watching.watched_chain import list_groups
from api.services.webhooks.dispatcher import Dispatcher
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.worker.jobs import Job
from api.worker.leases import Leases
from api.worker.process import Worker
from tests.evm.test_watch_tasks import has_cursor, mining, wait_until
from tests.support.databases import Databases
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop
from tests.support.silence import never_answering
from tests.support.webhooks import HOOK, SUBSCRIPTIONS, FakeTransport, Sent

BASE, HUNG = 8453, 10
PAYMENTS = 10
IDLE_S = 60.0


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as running:
        yield running


@pytest.fixture
def shop(net: MainNet, tmp_path: Path, databases: Databases) -> Iterator[ChainShop]:
    with chain_shop({BASE: net}, tmp_path, "worker", databases.lend("sqlite")) as opened:
        yield opened


@contextmanager
def working(resources: Resources, transport: FakeTransport) -> Iterator[None]:
    """Watch and deliver as the worker does, until the block ends."""
    chains = [(group, ChainTask(group)) for group in list_groups(resources.ledgers)]
    webhooks = Dispatcher(transport)
    jobs = (
        *(Job(duty=Duty.CHAINS, part=group.name, every_s=1, run=task.run, end=task.end) for group, task in chains),
        Job(duty=Duty.WEBHOOKS, every_s=0.2, run=webhooks.run, end=webhooks.end),
    )
    worker = Worker(resources, Leases(resources.database), jobs)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        wait_until(lambda: has_cursor(resources), "a first look")
        yield
    finally:
        worker.stop()
        thread.join()


@pytest.mark.benchmark(group="worker: seconds from a block to the webhook, beside a chain that hangs")
@pytest.mark.parametrize("block_s", [0.25, 2])
def test_block_to_webhook(benchmark: BenchmarkFixture, shop: ChainShop, net: MainNet, block_s: float) -> None:
    transport = FakeTransport(now=lambda: datetime.now(UTC))
    assert shop.shop.post(SUBSCRIPTIONS, {"webhook_url": HOOK, "env_mode": "test"}).status_code == 200
    customer, dice = shop.customer(BASE), Random(7)
    took: dict[str, list[float]] = {"payment_processing": [], "payment_success": []}

    def pay() -> None:
        shop.clock.set(datetime.now(UTC))
        order_id, reference = shop.order()
        threading.Event().wait(dice.random() * 3)  # or each payment would come at the same moment between two looks
        customer.pay(shop.token(BASE), shop.address, PRICE, reference)
        mined_at = datetime.now(UTC)
        for kind, seconds in took.items():
            wait_until(lambda kind=kind: arrival(transport, order_id, kind) is not None, kind)
            sent = arrival(transport, order_id, kind)
            assert sent is not None
            seconds.append((sent.at - mined_at).total_seconds())

    with never_answering() as url, mining(net, block_s):
        shop.clock.set(datetime.now(UTC))
        resources = in_real_time(shop, {BASE: (net.chain.url,), HUNG: (url,)})
        with working(resources, transport):
            benchmark.pedantic(pay, rounds=PAYMENTS)
    for kind, seconds in took.items():
        benchmark.extra_info[kind] = {"median": statistics.median(seconds), "max": max(seconds)}
        print(f"\nblocks of {block_s} s, {kind}: {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s")


def in_real_time(shop: ChainShop, urls: Mapping[int, tuple[str, ...]]) -> Resources:
    """Return the shop's resources on the clock of the machine, with chains at these addresses."""
    clock = SystemClock()
    return replace(shop.shop.resources, clock=clock, ledgers={EnvMode.TEST: connect_ledger(urls, EnvMode.TEST, clock)})


def arrival(transport: FakeTransport, order_id: str, kind: str) -> Sent | None:
    """Return the request that told of a payment, not of an order's creation."""
    for sent in tuple(transport.sent):
        data = sent.event["data"]
        if data["payment_order_id"] == order_id and sent.event["type"] == kind and data["transaction_hash"]:
            return sent
    return None


@pytest.mark.benchmark(group="worker: requests in a minute for an idle chain")
@pytest.mark.parametrize("block_s", [0.25, 12])
def test_idle_chain(benchmark: BenchmarkFixture, shop: ChainShop, net: MainNet, block_s: float) -> None:
    shop.order()
    spent: list[int] = []

    def idle() -> None:
        with mining(net, block_s):
            resources = in_real_time(shop, {BASE: (net.chain.url,)})
            ledger = resources.ledgers[EnvMode.TEST]
            (task,) = map(ChainTask, list_groups(resources.ledgers))
            task.run(resources)
            wait_until(lambda: has_cursor(resources), "a first look")
            begun = ledger.count_requests(BASE)
            threading.Event().wait(IDLE_S)
            spent.append(ledger.count_requests(BASE) - begun)
            task.end()

    benchmark.pedantic(idle, rounds=1)
    benchmark.extra_info["requests"] = spent[0]
    print(f"\nblocks of {block_s} s: {spent[0]} requests in {IDLE_S:.0f} s")


@pytest.mark.benchmark(group="worker: seconds to replace a stopped leader, SQLite")
@pytest.mark.parametrize("moment", ["before", "within"])
def test_replacing_a_stopped_leader(benchmark: BenchmarkFixture, tmp_path: Path, moment: str) -> None:
    took: list[float] = []

    def replace_leader() -> None:
        url = f"sqlite:///{tmp_path / f'{len(took)}.db'}"
        database = Database(url)
        upgrade(database.engine)
        command = [sys.executable, "-m", "tests.chaos.stopped_worker", moment]
        root, environment = Path(__file__).parents[2], {**os.environ, "DATABASE_URL": url}
        leader = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL)
        leases = Leases(database)
        try:
            os.waitpid(leader.pid, os.WUNTRACED)
            stopped_at = time.monotonic()
            wait_until(lambda: bool(leases.keep([Duty.CHAINS])), "the lease")
            took.append(time.monotonic() - stopped_at)
        finally:
            leader.send_signal(signal.SIGKILL)
            leader.wait()
            leases.close()
            database.close()

    benchmark.pedantic(replace_leader, rounds=3)
    benchmark.extra_info["replaced_s"] = max(took)
    print(f"\nstopped {moment} a transaction: replaced after at most {max(took):.1f} s")
