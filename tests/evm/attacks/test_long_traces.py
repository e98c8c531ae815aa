"""Transactions that name the merchant and whose traces take long: a cent each, and every block may have one."""

from __future__ import annotations

import pytest

from api.services.ledger import look_budgets, reading
from tests.support.attacks import BASE, run
from tests.support.evm import Contract
from tests.support.settlement import ChainShop
from tests.support.vyper_source import compiled

BALANCE_OF = bytes.fromhex("70a08231")
THIEVES, LOOKS, WEI = 4, 8, 10**15


@pytest.mark.rule("evidence.4")
def test_long_traces_of_others_keep_no_payment_waiting(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look takes as long as the first of them, and the payment behind them is read in a later one."""
    monkeypatch.setattr(look_budgets, "USUAL_TRACE_S", 0.0)
    monkeypatch.setattr(look_budgets, "PATIENCE_S", 1e-9)
    asked: list[str] = []
    trace = reading.trace_question
    monkeypatch.setattr(reading, "trace_question", lambda tx_hash: asked.append(tx_hash) or trace(tx_hash))
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 3})
    naming = BALANCE_OF + bytes(12) + bytes.fromhex(shop.address[2:])
    for _ in range(THIEVES):
        shop.customer(BASE, "thief").send(runner.address, run(runner, (shop.token(BASE), 0, naming)))
    account = shop.nets[BASE].chain.deploy(compiled("runner"))
    shop.nets[BASE].fund(account.address, "ETH", WEI)
    payment = run(account, (shop.address, WEI, reference))  # coin: no event tells that this one is no thief's
    shop.customer(BASE, "owner").send(account.address, payment)
    shop.look(1)
    assert len(set(asked)) == 1
    for _ in range(LOOKS):
        shop.look(1)
    assert shop.outcome(order_id) == "processing/"
