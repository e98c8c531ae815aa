"""What was passed over is found: by a wallet's hint, by the operator, and by searching once more what became final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.ledger import chain_reader
from api.services.settlement.watching.reported_payments import report_payment
from api.services.settlement.watching.rescans import rescan, rescan_transaction
from api.storage.tables import DoubtfulBlock, PaymentHint, WatchCursor
from tests.support.across import LIFE_S, Crossing
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import LyingRpc, hide_calls, hide_logs, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, chain_shop

pytestmark = pytest.mark.in_turns

BASE, ETHEREUM = 8453, 1


@pytest.fixture
def liar(nets: Mapping[int, MainNet]) -> Iterator[LyingRpc]:
    with lying_rpc(nets[BASE].chain.url) as rpc:
        yield rpc


@pytest.fixture(params=DIALECTS)
def shop(
    nets: Mapping[int, MainNet],
    liar: LyingRpc,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
) -> Iterator[ChainShop]:
    urls, lent = {BASE: (liar.url,)}, databases.lend(request.param)
    with chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls) as opened:
        opened.look()
        yield opened


def empty_bloom(method: str, params: list[Any], answer: Any) -> Any:
    """Say that no block has any event, so that nobody doubts it."""
    is_block = isinstance(answer, dict) and "logsBloom" in answer and "number" in answer
    return {**answer, "logsBloom": "0x" + "00" * 256} if is_block else answer


def lose(shop: ChainShop, liar: LyingRpc, pay: Callable[[], str]) -> str:
    """Let the worker read past a transaction without seeing it."""
    liar.lies += [hide_logs, hide_calls(shop.address), empty_bloom]
    tx_hash = pay()
    shop.pass_time(12)  # the cursor of a quiet chain is not written down each time
    shop.look()
    liar.lies.clear()
    shop.look()
    return tx_hash


def pay(shop: ChainShop) -> str:
    return shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE)


def seen(shop: ChainShop) -> list[str]:
    return [row.tx_hash for row in shop.shop.payments()]


def cursor_of(shop: ChainShop) -> int:
    with shop.shop.resources.database.read() as session:
        return session.get_one(WatchCursor, ("test", BASE)).block_number


def test_a_hint_finds_what_was_passed_over(shop: ChainShop, liar: LyingRpc) -> None:
    order_id, _ = shop.order()
    tx_hash = lose(shop, liar, lambda: pay(shop))
    assert seen(shop) == []
    assert report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash)
    assert not report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash)
    shop.look(4)
    assert seen(shop) == [tx_hash]


def test_hints_that_lead_nowhere_cost_the_order_nothing(shop: ChainShop) -> None:
    """Of a hundred that nobody sent, and of a transaction that has to do with nobody here."""
    order_id, reference = shop.order()
    elsewhere = shop.customer(BASE).send("0x" + "12" * 20, value=1)
    junk = [f"0x{number:064x}" for number in range(100)]
    for tx_hash in [*junk, elsewhere]:
        report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(2)
    assert shop.outcome(order_id) == "success/"
    shop.look(6)
    shop.pass_time(3700)
    shop.look(8)
    with shop.shop.resources.database.read() as session:
        assert session.query(PaymentHint).count() == 0
        assert session.query(DoubtfulBlock).count() == 0


def test_the_operator_reads_blocks_again(shop: ChainShop, liar: LyingRpc) -> None:
    before = shop.nets[BASE].chain.number
    tx_hash = lose(shop, liar, lambda: pay(shop))
    reached = cursor_of(shop)
    pieces = list(rescan(shop.shop.resources, EnvMode.TEST, BASE, max(0, before - 45), reached))
    assert len(pieces) > 1
    assert [each for piece in pieces for each in piece.found] == [tx_hash]
    assert cursor_of(shop) == reached
    assert [piece.found for piece in rescan(shop.shop.resources, EnvMode.TEST, BASE, before, before + 1)] == [()]
    assert seen(shop) == [tx_hash]


def test_the_operator_reads_a_transactions_block_again_though_events_are_kept_back(
    shop: ChainShop, liar: LyingRpc
) -> None:
    tx_hash = lose(shop, liar, lambda: pay(shop))
    liar.lies.append(hide_logs)
    assert rescan_transaction(shop.shop.resources, EnvMode.TEST, BASE, tx_hash).found == (tx_hash,)
    assert seen(shop) == [tx_hash]


@pytest.mark.parametrize(
    ("chain_id", "first", "last", "message"),
    [
        (5, 0, 1, "not connected"),
        (BASE, 9, 8, "at most --to"),
        (BASE, 0, 10**9, "The worker has read chain 8453 up to block"),
    ],
)
def test_ranges_that_cannot_be_read_are_refused(
    shop: ChainShop, chain_id: int, first: int, last: int, message: str
) -> None:
    with pytest.raises(InvalidData) as refused:
        list(rescan(shop.shop.resources, EnvMode.TEST, chain_id, first, last))
    assert message in refused.value.problems[0].message
    with pytest.raises(InvalidData) as refused:
        rescan_transaction(shop.shop.resources, EnvMode.TEST, BASE, "0x" + "00" * 32)
    assert "has no such transaction" in refused.value.problems[0].message


def test_a_delivery_that_one_empty_answer_hid_is_found_once_it_is_final(shop: ChainShop, liar: LyingRpc) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    lose(shop, liar, crossing.fill)
    assert shop.outcome(order_id) == "processing/"
    shop.finalise()
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_route_has_not_failed_before_its_last_block_was_searched_as_final(
    shop: ChainShop, liar: LyingRpc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_reader, "is_whole", lambda told, **_: True)  # else the lie is found out within seconds
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    lose(shop, liar, crossing.fill)
    shop.pass_time(LIFE_S + timedelta(minutes=31).total_seconds())
    shop.look()
    assert shop.outcome(order_id) == "processing/"  # nothing of this is final yet
    shop.finalise()
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert "failed/route_failed" not in shop.shop.history(order_id)


def test_a_missing_trace_is_told_and_asked_for_again(shop: ChainShop, liar: LyingRpc) -> None:
    def refuse(method: str, params: list[Any], answer: Any) -> Any:
        return None if method == "debug_traceTransaction" else answer

    def told() -> list[int]:
        found: dict[str, list[int]] = shop.shop.client.get("/healthz").get_json()["chains_without_traces"]
        return found["test"]

    liar.lies.append(refuse)
    shop.customer(BASE).send("0x" + "12" * 20, value=1)
    shop.pass_time(400)
    shop.look(2)
    assert told() == [BASE]
    liar.lies.clear()
    shop.pass_time(400)
    shop.look(2)
    assert told() == []
