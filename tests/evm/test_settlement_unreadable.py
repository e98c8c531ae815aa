"""A bridge whose code fails at an event: it holds up nobody else, and what it could not read counts once it can."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.base import BadPayload
from adapters.bridges.across.events import AcrossEvents
from api.app import build_app
from tests.support.across import Crossing
from tests.support.metrics import read_metrics
from tests.support.settlement import PRICE, ChainShop

BASE = 8453
NAME = "adapters.bridges.across.events.AcrossEvents"
FAULTS = [ValueError("year 60000 is out of range"), BadPayload("short"), RecursionError()]


def fail_at(monkeypatch: pytest.MonkeyPatch, method: str, fault: Exception) -> None:
    def failing(self: AcrossEvents, *told: Any) -> Any:
        raise fault

    monkeypatch.setattr(AcrossEvents, method, failing)


def measure(shop: ChainShop) -> list[str]:
    text = read_metrics(build_app(shop.shop.resources))
    return [line for line in text.splitlines() if line.startswith("checkout_bridge_events_unread{")]


def pass_pauses(shop: ChainShop) -> None:
    shop.pass_time(400)
    shop.look()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_delivery_that_cannot_be_read_waits_and_no_other_payment_does(
    shop: ChainShop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: Exception
) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    with monkeypatch.context() as broken:
        fail_at(broken, "read", fault)
        fill = crossing.fill()
        other_id, other = shop.order()
        shop.customer(BASE, "somebody else").pay(shop.token(BASE), shop.address, PRICE, other)
        shop.look(3)
        assert (shop.outcome(order_id), shop.outcome(other_id)) == ("processing/", "success/")
        assert shop.unmatched() == [], "what may be a delivery is nobody's payment meanwhile"
        (line,) = measure(shop)
        assert all(each in line for each in (f'chain_id="{BASE}"', f'bridge="{NAME}"', f'tx_hash="{fill}"'))
        written = capsys.readouterr().out
        assert all(each in written for each in ("bridge_event_not_read", NAME, fill))
        pass_pauses(shop)
        assert (shop.outcome(order_id), len(measure(shop))) == ("processing/", 1)
    pass_pauses(shop)
    assert shop.outcome(order_id) == "success/"
    assert measure(shop) == []


@pytest.mark.parametrize("method", ["read", "complete"])
def test_a_deposit_that_cannot_be_read_waits(shop: ChainShop, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    order_id, reference = shop.order()
    with monkeypatch.context() as broken:
        fail_at(broken, method, KeyError("recipient"))
        crossing = Crossing(shop, reference)
        shop.look(3)
        assert shop.outcome(order_id) == "created/"
    pass_pauses(shop)
    assert shop.outcome(order_id) == "processing/"
    crossing.fill()
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_what_counted_before_its_code_broke_goes_on_counting(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to be read is no denial: the chain still has the payment."""
    order_id, reference = shop.order()
    Crossing(shop, reference).fill()
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    with monkeypatch.context() as broken:
        fail_at(broken, "read", ValueError("?"))
        shop.finalise()
    assert shop.outcome(order_id) == "success/"
