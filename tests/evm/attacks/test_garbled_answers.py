"""An endpoint whose answers are not what they should be, somewhere within: nothing of it reaches whoever reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.attacks import BASE
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, chain_shop

pytestmark = pytest.mark.in_turns

Opened = tuple[ChainShop, LyingRpc]


@pytest.fixture(params=DIALECTS)
def opened(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[Opened]:
    """Open a shop with two endpoints of Base, of which the one in use is given too."""
    with ExitStack() as stack:
        liar, other = (stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(2))
        urls, lent = {BASE: (liar.url, other.url)}, databases.lend(request.param)
        shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
        shop.look()
        yield shop, liar


@pytest.mark.parametrize("moment", ["0x3afff44180", "0x7fffffffffffffff", "0xffffffffffffffff"])
def test_a_moment_that_no_calendar_has_stops_no_chain(opened: Opened, moment: str) -> None:
    """Found: it was no number too large for a block, and then none for a calendar; the other one was never asked."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        is_asked = method == "eth_getBlockByNumber" and params[0] not in ("latest", "finalized")
        return {**answer, "timestamp": moment} if is_asked and answer else answer

    shop, liar = opened
    liar.lies.append(lie)
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(4)
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("change", [{"from": None}, {"from": "0x12"}, {"to": []}, {"hash": "0x"}])
def test_what_cannot_be_read_of_a_proven_block_stops_no_chain(opened: Opened, change: Mapping[str, Any]) -> None:
    """Found: what is not hashed with a block was missing, and that ended each look before the cursor was moved."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method == "eth_getBlockByNumber" and params[1] and answer and is_proving[0]:
            return {**answer, "transactions": [{**each, **change} for each in answer["transactions"]]}
        return answer

    shop, liar = opened
    is_proving = [False]
    liar.lies.append(lie)
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(1)
    is_proving[0] = True  # it is honest until the payment is seen
    shop.look(3)
    is_proving[0] = False
    shop.pass_time(70)
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
