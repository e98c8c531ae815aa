"""What strangers tried with a payment link and everything public, on chains with real contracts and both databases.

Each of these got through once, or could have; docs/threat-model.md lists what they threaten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode
from sqlalchemy.orm import Session

from adapters.rpc.multicall import MULTICALL3
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.checkout.quotes import require_due
from api.services.orders.views import load_public_order
from api.services.settlement.crediting import crediting
from api.services.settlement.crediting.matching import Match
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching.reported_payments import report_payment
from api.services.settlement.watching.watcher import watch
from api.services.vendors.vendors import Account, set_account
from tests.api.conftest import DIALECTS, make_database_url, postgres_server  # noqa: F401
from tests.support.across import PAID, Crossing
from tests.support.evm import ACTOR, Contract
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop, open_another, transfer_data
from tests.support.vyper_source import compiled

BASE, ETHEREUM = 8453, 1
APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture(params=DIALECTS)
def shop(
    nets: Mapping[int, MainNet],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    make_database_url: Callable[[str], str],  # noqa: F811
) -> Iterator[ChainShop]:
    url = make_database_url(request.param)
    with chain_shop(nets, tmp_path, request.node.name, database_url=url, env_modes=tuple(EnvMode)) as opened:
        opened.look(1)
        yield opened


@pytest.fixture
def runner(shop: ChainShop) -> Contract:
    """A contract that does whatever calls it is told to: a multicall, an entry point, somebody's account."""
    return shop.nets[BASE].chain.deploy(compiled("runner"))


def run(contract: Contract, *calls: tuple[str, int, bytes]) -> bytes:
    function = contract.functions["run"]
    return function.selector + encode(function.inputs, (calls,))


def test_a_report_takes_nobody_elses_payment(shop: ChainShop) -> None:
    """An unlabelled transfer, and an order that a stranger makes afterwards for just its amount."""
    victim, thief = shop.customer(BASE, "victim"), shop.customer(BASE, "thief")
    sent = victim.pay(shop.token(BASE), shop.address, PRICE)
    shop.look()
    order_id, _ = shop.order()
    for payer in (victim, thief):
        report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=sent)
        assert shop.shop.client.post(
            f"/payment/{order_id}/report", json={"chainId": BASE, "hash": sent, "payer": payer.address}
        ).status_code == 400  # fmt: skip
    shop.look(4)
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("no_order", "")])


def test_an_equal_amount_takes_nobody_elses_payment(shop: ChainShop) -> None:
    order_id, _ = shop.order()
    shop.customer(BASE, "victim").pay(shop.token(BASE), shop.address, PRICE)
    shop.look()
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("no_order", "")])


def test_a_fill_of_something_else_answers_no_deposit(shop: ChainShop) -> None:
    victims, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    real, crossing.amount_out = crossing.amount_out, 1
    crossing.fill()
    shop.look()
    assert shop.outcome(victims) == "processing/"
    crossing.amount_out = real
    delivery = crossing.fill()
    shop.look()
    assert shop.outcome(victims) == "success/"
    assert [row["hash"] for row in shop.shop.order(victims)["transfers"]] == [delivery]


def test_one_chain_in_both_environments_keeps_them_apart(shop: ChainShop) -> None:
    """Test and live on the same endpoints, each with addresses of its own; none can have the other's."""
    live = open_another(shop, f"live of {shop.address}", EnvMode.LIVE)
    order_id, reference = live.order()
    rehearsal, other = shop.order()
    customer = shop.customer(BASE)
    customer.pay(shop.token(BASE), live.address, PRICE, reference)
    customer.pay(shop.token(BASE), shop.address, PRICE, other)
    shop.look()
    assert live.shop.order(order_id, env_mode="live")["payment_order_status"] == "success"
    assert shop.outcome(rehearsal) == "success/"
    assert {(row.env_mode, row.recipient) for row in shop.shop.payments()} == {
        ("live", live.address),
        ("test", shop.address),
    }
    token = shop.token(BASE)
    account = Account(currency="USDC", chain_id=BASE, token_address=token, token_decimals=6, address=live.address)
    with pytest.raises(InvalidData, match="Invalid request data"), shop.shop.resources.database.write() as session:
        set_account(session, shop.shop.merchant.id, EnvMode.TEST, account, shop.clock.now())


def test_a_bundle_pays_for_each_account_only_what_is_its_own(shop: ChainShop, runner: Contract) -> None:
    """A bundler carries a victim's payment and puts his own reference behind the whole."""
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    net = shop.nets[BASE]
    account = net.chain.deploy(compiled("runner"))
    net.fund(account.address.lower(), "USDC", PRICE)
    token = shop.token(BASE)
    payment = run(account, (token, 0, transfer_data(shop.address, PRICE) + reference))
    shop.customer(BASE, "thief").send(runner.address, run(runner, (account.address, 0, payment)) + stolen)
    shop.look()
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")
    assert shop.shop.payments()[0].sender == account.address.lower()


@pytest.mark.parametrize("where", ["around", "within"])
def test_a_victims_allowance_pays_no_strangers_order(shop: ChainShop, runner: Contract, where: str) -> None:
    order_id, reference = shop.order()
    victim, thief = shop.customer(BASE, "victim"), shop.customer(BASE, "thief")
    token = shop.token(BASE)
    victim.send(token, APPROVE + encode(["address", "uint256"], [runner.address, 30 * PRICE]))
    moved = TRANSFER_FROM + encode(["address", "address", "uint256"], [victim.address, shop.address, 30 * PRICE])
    inner = moved + (reference if where == "within" else b"")
    thief.send(runner.address, run(runner, (token, 0, inner)) + reference)
    shop.look()
    assert shop.outcome(order_id) == "created/"
    assert shop.unmatched() == [("other_payer", order_id)]
    assert shop.shop.order(order_id)["amount_received"] == "0"


def test_coin_from_a_smart_account_is_seen_and_pays(shop: ChainShop, runner: Contract) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 3})
    shop.nets[BASE].fund(runner.address.lower(), "ETH", 10**18)
    shop.customer(BASE).send(runner.address, run(runner, (shop.address, 10**15, reference)))
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.payments()[0].sender == runner.address.lower()


JUNK = {
    "a unit": ("USDC", BASE, 1),
    "less than a hundredth": ("USDC", BASE, PRICE // 100 - 1),
    "a listed wrong token worth nothing": ("DAI", BASE, 1),
    "a unit on another chain": ("USDC", ETHEREUM, 1),
}


@pytest.mark.parametrize("name", JUNK)
def test_whoever_has_the_link_ends_no_order_with_junk(shop: ChainShop, name: str) -> None:
    symbol, chain_id, amount = JUNK[name]
    order_id, reference = shop.order()
    stranger = shop.customer(chain_id, "stranger", **{symbol: amount})
    stranger.pay(shop.token(chain_id, symbol), shop.address, amount, reference)
    shop.look(3)
    assert shop.outcome(order_id) == "created/"
    assert [event["type"] for event in shop.shop.events(order_id)] == ["payment_processing"]
    due = int(shop.shop.order(order_id)["amount_due"])
    shop.customer(BASE).pay(shop.token(BASE), shop.address, due, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("amount", [10**15, 10**18])
def test_a_wrong_token_leaves_the_order_payable(shop: ChainShop, amount: int) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE, "stranger", DAI=10**18).pay(shop.token(BASE, "DAI"), shop.address, amount, reference)
    shop.look(3)
    _, due = require_due(shop.shop.resources, load_public_order(shop.shop.resources, order_id))
    assert due == PRICE
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_deposit_that_nobody_built_is_not_on_its_way(shop: ChainShop) -> None:
    """It may never be filled, or ask for it: the order must not wait for it."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference, is_built=False)
    shop.look()
    assert shop.outcome(order_id) == "created/"
    crossing.fill()  # if it is delivered all the same, it is the payer's money
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_deposit_to_oneself_parks_no_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    Crossing(ChainShop(shop=shop.shop, nets=shop.nets, address="0x" + "66" * 20), reference)
    shop.look()
    assert (shop.outcome(order_id), shop.shop.payments()) == ("created/", [])


def test_a_deposit_on_its_way_blocks_neither_paying_nor_cancelling(shop: ChainShop) -> None:
    (paid, reference), (cancelled, other) = shop.order(), shop.order()
    Crossing(shop, reference)
    late = Crossing(shop, other)
    shop.look()
    assert require_due(shop.shop.resources, load_public_order(shop.shop.resources, paid))[1] == PRICE
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    assert shop.shop.post(f"/api/v1/payment/{cancelled}/cancel").status_code == 200
    late.fill()
    shop.look()
    shop.finalise()
    assert (shop.outcome(paid), shop.outcome(cancelled)) == ("success/", "cancelled/paid_after_close")


def test_what_is_deposited_and_paid_as_well_can_be_sent_back(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    fill = crossing.fill()
    shop.look()
    shop.finalise()
    order = shop.shop.order(order_id)
    assert (order["status_reason"], order["amount_received"]) == ("paid_after_close", str(2 * PRICE))
    transfer = next(row for row in order["transfers"] if row["hash"] == fill)
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"transfer": transfer["id"]})
    assert answer.get_json()["refunds"][0]["to"] == crossing.customer.address
    assert PAID > PRICE


def test_nobody_with_the_link_cancels(shop: ChainShop) -> None:
    order_id, _ = shop.order()
    assert shop.shop.client.post(f"/payment/{order_id}/cancel", json={}).status_code == 404
    assert shop.outcome(order_id) == "created/"


def test_junk_reports_block_no_payment(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    for number in range(60):
        report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=f"0x{number:064x}")
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_large_overpayment_is_sent_back_only_once_it_is_final(shop: ChainShop) -> None:
    """Five dollars are due, fifty thousand come, are sent back, and the chain loses them."""
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 5, "decimals": 0})
    customer = shop.customer(BASE, "whale", USDC=50_005 * PRICE)
    customer.pay(shop.token(BASE), shop.address, 50_005 * PRICE, reference)
    shop.look(4)
    assert shop.outcome(order_id) == "processing/overpaid"  # the transfer's own value decides
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": "1"}).status_code == 409
    shop.finalise()
    assert shop.outcome(order_id) == "success/overpaid"
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": str(50_000 * PRICE)})
    assert answer.get_json()["refunds"][0]["amount"] == str(50_000 * PRICE)


def test_a_refund_is_not_made_to_a_contract_that_serves_everybody(shop: ChainShop) -> None:
    """Money of a multicall is anybody's: the merchant must say whom to pay."""
    order_id, reference = shop.order()
    shop.nets[BASE].fund(MULTICALL3, "USDC", PRICE)
    aggregate = bytes.fromhex("82ad56cb")
    calls = [(shop.token(BASE), False, transfer_data(shop.address, PRICE) + reference)]
    shop.customer(BASE).send(MULTICALL3, aggregate + encode(["(address,bool,bytes)[]"], [calls]))
    shop.look()
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund")
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")


def test_a_refund_of_a_payment_takes_no_other_merchants_money(shop: ChainShop) -> None:
    """A stranger copies a refund's public reference into a transfer of his own: it settles nothing."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE, "refunded")
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    (asked,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    data = bytes.fromhex(asked["transaction"]["data"][2:])
    Wallet(shop.nets[BASE].chain, shop.customer(BASE, "stranger").address).send(asked["transaction"]["to"], data)
    shop.look()
    shop.finalise()
    (still,) = shop.shop.order(order_id)["refunds"]
    assert (still["status"], still["hash"]) == ("requested", "")
    assert shop.outcome(order_id) == "success/"


def test_two_transfers_of_one_transaction_are_two(shop: ChainShop, runner: Contract) -> None:
    (first, one), (second, two) = shop.order(), shop.order()
    shop.nets[BASE].fund(runner.address.lower(), "USDC", 2 * PRICE)
    token = shop.token(BASE)
    calls = [(token, 0, transfer_data(shop.address, PRICE) + each) for each in (one, two)]
    shop.customer(BASE).send(runner.address, run(runner, *calls))
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "success/")
    assert [shop.shop.order(each)["amount_received"] for each in (first, second)] == [str(PRICE)] * 2


def _word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def _deposit(shop: ChainShop, reference: bytes, chain_id: int) -> None:
    """Deposit a unit into Across for the merchant, on whichever chain: the contract takes any number for one."""
    thief, net = shop.customer(ETHEREUM, "thief"), shop.nets[ETHEREUM]
    token, now = shop.token(ETHEREUM), int(net.chain.now())
    thief.send(token, APPROVE + encode(["address", "uint256"], [net.spoke_pool.address, 1]))
    function = net.spoke_pool.functions["deposit"]
    order = (
        *(_word(thief.address), _word(shop.address), _word(token), _word(shop.token(BASE))),
        *(1, 1, chain_id, bytes(32), now, now + 3600, 0, b""),
    )
    thief.send(net.spoke_pool.address, function.selector + encode(function.inputs, order) + reference)


def _fill_of_nowhere(shop: ChainShop) -> None:
    """Fill a relay that nobody deposited, from a chain with a number that no column holds."""
    net, token = shop.nets[BASE], shop.token(BASE)
    end = int(net.chain.now()) + 3600
    relay = (
        *(_word(ACTOR), _word(shop.address), bytes(32), _word(token), _word(token)),
        *(1, 1, 2**255 + 5, 7, end, 0, b""),
    )
    function = net.spoke_pool.functions["fillRelay"]
    data = function.selector + encode(function.inputs, (relay, 1, _word(ACTOR)))
    Wallet(net.chain, ACTOR).send(net.spoke_pool.address, data)


@pytest.mark.parametrize("chain_id", [2**255 + 5, 2**63, 0])
def test_no_single_transaction_stops_the_reading_of_a_chain(shop: ChainShop, chain_id: int) -> None:
    order_id, reference = shop.order()
    _deposit(shop, reference, chain_id)
    _fill_of_nowhere(shop)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id).startswith("success/")


def test_what_no_table_takes_is_passed_over(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a column refuses, the payments beside it are written."""
    (first, one), (second, two) = shop.order(), shop.order()
    refused = shop.customer(BASE, "refused").pay(shop.token(BASE), shop.address, PRICE, one, mine=False)
    shop.customer(BASE, "taken").pay(shop.token(BASE), shop.address, PRICE, two)
    write = crediting.add_transfer

    def add(session: Session, observation: ChainObservation, match: Match, *more: Any) -> None:
        huge = match.transfer.tx_hash == refused
        bad = replace(match, transfer=replace(match.transfer, bridge_id="x" * 200, source_chain_id=2**200))
        write(session, observation, bad if huge else match, *more)

    monkeypatch.setattr(crediting, "add_transfer", add)
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("created/", "success/")


def test_a_deposit_that_only_its_payer_may_fill_is_not_on_its_way(shop: ChainShop) -> None:
    """It has the numbers that were built, but nobody else can deliver it until it comes back."""
    order_id, reference = shop.order()
    Crossing(shop, reference, relayer=shop.customer(ETHEREUM).address)
    shop.look()
    assert shop.outcome(order_id) == "created/"


def test_dust_that_cannot_be_proven_keeps_no_other_payment_waiting(shop: ChainShop, runner: Contract) -> None:
    order_id, reference = shop.order()
    shop.nets[BASE].fund(runner.address.lower(), "ETH", 10**18)
    for _ in range(3):
        calls = [(shop.address, 1, reference)] * 8
        shop.customer(BASE, "thief").send(runner.address, run(runner, *calls))
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_payment_in_time_is_not_late_because_another_chain_was_read_first(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE // 2, reference)
    shop.look()
    shop.pass_time(24 * 3600 - 30)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE // 2, reference)
    shop.clock.advance(seconds=40)
    watch(shop.shop.resources)
    assert shop.outcome(order_id) == "processing/"
    watch(shop.shop.resources)
    assert shop.outcome(order_id) == "success/"
