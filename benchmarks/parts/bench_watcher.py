"""Watching a real chain: time and requests for a block, by the number of open orders.

A run of the worker reads one new block that holds two payments with references and 200 transfers that are nobody's.
`extra_info` of the results has the HTTP requests and the JSON-RPC questions of a run.
"""

from __future__ import annotations

import json
import secrets
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from sqlalchemy import insert, select

from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from api.domain.env import EnvMode
from api.domain.ids import IdPrefix, make_id
from api.services.ledger.chain_ledger import QUIET_CHAIN_S, ChainLedger
from api.services.settlement.watching.watcher import watch
from api.storage.tables import PaymentOrder
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop

BASE = 8453
ROUNDS = 30
STRANGERS = 200
ORDERS = (100, 1_000, 10_000)


class CountingClient:
    """Puts questions as the service's own client does, and counts them."""

    def __init__(self) -> None:
        self._client = JsonClient(limits=RPC_LIMITS)
        self.requests: list[int] = []

    def get(self, url: str, params: Mapping[str, str | int] | None = None) -> Any:
        return self._client.get(url, params)

    def post(self, url: str, body: object) -> Any:
        self.requests.append(len(body) if isinstance(body, list) else 1)
        return self._client.post(url, body)


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as running:
        yield running


@pytest.mark.benchmark(group="watching: one new block with two payments")
@pytest.mark.parametrize("orders", ORDERS)
def test_watch_a_block(benchmark: BenchmarkFixture, net: MainNet, tmp_path: Path, orders: int) -> None:
    with chain_shop({BASE: net}, tmp_path, f"{orders} orders") as shop:
        references = open_orders(shop, orders)
        client = CountingClient()
        clock = shop.clock
        pool = RpcPool(
            BASE,
            [net.chain.url],
            client=client,
            finality_blocks=750,
            max_head_age_s=QUIET_CHAIN_S,
            clock=lambda: clock.now().timestamp(),
        )
        resources = replace(shop.shop.resources, ledgers={EnvMode.TEST: ChainLedger({BASE: pool}, is_rehearsal=True)})
        customer = shop.customer(BASE)
        watch(resources)
        runs: list[tuple[int, int]] = []

        def mine() -> None:
            with_payments(shop, customer, references[2 * len(runs) :][:2])
            client.requests.clear()

        def run() -> None:
            watch(resources)
            runs.append((len(client.requests), sum(client.requests)))

        benchmark.pedantic(run, setup=mine, rounds=ROUNDS)
        assert len(shop.shop.payments()) == 2 * ROUNDS
        benchmark.extra_info["requests"] = statistics.mean(requests for requests, _ in runs)
        benchmark.extra_info["questions"] = statistics.mean(questions for _, questions in runs)
        print(f"\n{orders} open orders: {json.dumps(benchmark.extra_info)}")


def open_orders(shop: ChainShop, count: int) -> Sequence[bytes]:
    """Fill the shop with open orders like its first one; return their references."""
    first, reference = shop.order()
    references = [reference, *(secrets.token_bytes(16) for _ in range(count - 1))]
    with shop.shop.resources.database.write() as session:
        model = session.get_one(PaymentOrder, first)
        columns = {column.key: getattr(model, column.key) for column in PaymentOrder.__mapper__.column_attrs}
        now = shop.clock.now()
        rows = [columns | {"id": make_id(IdPrefix.ORDER, now), "payment_reference": each} for each in references[1:]]
        for start in range(0, len(rows), 500):
            session.execute(insert(PaymentOrder), rows[start : start + 500])
        assert len(session.scalars(select(PaymentOrder.id)).all()) == count
    return references


def with_payments(shop: ChainShop, customer: Wallet, references: Sequence[bytes]) -> None:
    """Mine a block with a payment for each reference among transfers between strangers."""
    token = shop.token(BASE)
    for number in range(STRANGERS):
        customer.pay(token, f"0x{number + 1:040x}", 1, mine=False, gas=hex(100_000))
    for reference in references:
        customer.pay(token, shop.address, PRICE, reference, mine=False, gas=hex(100_000))
    shop.pass_time(2)
