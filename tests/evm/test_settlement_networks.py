"""A faulty network between the worker and a chain's endpoint: what is paid meanwhile counts once it is better."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.databases import DIALECTS, Databases
from tests.support.fault_proxy import NONE, REFUSED, SILENT, Fault, fault_proxy
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, chain_shop

BASE = 8453
LOOKS = 3
LONGEST_S = 60.0
"""Of the looks while it is faulty; an endpoint that says nothing costs its limits."""
PATIENCE_S = 30.0
BY_DICE = Fault(cut_share=0.6, cut_after_bytes=600)
DRIPPING = Fault(delay_s=0.002, piece_bytes=64)


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base:
        yield {BASE: base}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("fault", "has_another"),
    [(BY_DICE, False), (REFUSED, False), (DRIPPING, False), (SILENT, True)],
    ids=["dice", "refused", "drips", "silent"],
)
def test_what_is_paid_while_an_endpoint_is_hardly_reached_counts_once(
    fault: Fault, has_another: bool, dialect: str, nets: Mapping[int, MainNet], tmp_path: Path, databases: Databases
) -> None:
    url = nets[BASE].chain.url
    target = ("127.0.0.1", urlsplit(url).port or 0)
    with fault_proxy(target) as proxy:
        urls = (f"http://127.0.0.1:{proxy.port}", *([url] if has_another else []))
        lent = databases.lend(dialect)
        with chain_shop(nets, tmp_path, dialect, lent, endpoints={BASE: urls}) as shop:
            shop.look()
            orders = [shop.order() for _ in range(LOOKS)]
            customer = shop.customer(BASE)
            proxy.behave(fault)
            began = time.monotonic()
            for _, reference in orders:
                customer.pay(shop.token(BASE), shop.address, PRICE, reference)
                shop.look(1)
            took_s = time.monotonic() - began
            proxy.cut()
            proxy.behave(NONE)
            wanted, deadline = ["success/"] * LOOKS, time.monotonic() + PATIENCE_S
            while [shop.outcome(order_id) for order_id, _ in orders] != wanted and time.monotonic() < deadline:
                threading.Event().wait(0.5)  # its host is left alone for some seconds
                shop.look(1)
            assert [shop.outcome(order_id) for order_id, _ in orders] == wanted
            assert [row.amount for row in shop.shop.payments()] == [PRICE] * LOOKS
    print(f"{LOOKS} looks took {took_s:.1f} s")
    assert took_s < LONGEST_S
