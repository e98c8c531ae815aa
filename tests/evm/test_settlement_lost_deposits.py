"""What a bridge delivered counts only while the deposit that it answers stands, and for that deposit's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from adapters.chain.deployments import read_deployments
from api.domain.errors import Conflict
from api.services.ledger.chain_ledger import ChainLedger
from api.services.settlement.crediting.unassigning import unassign
from api.services.settlement.crediting.unmatched_transfers import assign
from api.services.settlement.watching.reported_payments import report_payment
from api.storage.tables import Payment
from tests.support.across import Crossing
from tests.support.circle import deploy_circle, forward
from tests.support.databases import DIALECTS, Databases
from tests.support.evidence import data_of
from tests.support.forged_deposits import ForgedDeposit
from tests.support.lying_rpc import LyingRpc, lying_rpc, relabel
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import FINAL_BLOCKS, PRICE, ChainShop, Wallet, chain_shop, somebody
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

BASE, ETHEREUM = 8453, 1
SETTLED = 8
"""Looks until endpoints have been asked again."""
PAUSE_S = 61
"""How long at most a proof that could not be had is not asked for again."""
MOST_FEE = 1_000
"""What Circle may keep of a burn."""


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        for net in (base, ethereum):
            deploy_circle(net)
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture(params=DIALECTS)
def opened(
    nets: Mapping[int, MainNet],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
) -> Iterator[Callable[[int], tuple[ChainShop, LyingRpc]]]:
    """Open a shop whose worker has so many endpoints of Ethereum; the first may lie."""
    with ExitStack() as stack:

        def build(count: int) -> tuple[ChainShop, LyingRpc]:
            rpcs = [stack.enter_context(lying_rpc(nets[ETHEREUM].chain.url)) for _ in range(count)]
            urls = {ETHEREUM: tuple(each.url for each in rpcs)}
            lent = databases.lend(request.param)
            shop = chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls)
            entered = stack.enter_context(shop)
            entered.look()
            return entered, rpcs[0]

        yield build


Opened = Callable[[int], tuple[ChainShop, LyingRpc]]


@pytest.fixture
def shop(opened: Opened) -> ChainShop:
    return opened(1)[0]


def lose(shop: ChainShop, tx_hash: str) -> Callable[[], str]:
    """Let Ethereum take a transaction back; return what mines it again."""
    chain = shop.nets[ETHEREUM].chain
    sent = chain.rpc("eth_getTransactionByHash", tx_hash)
    chain.rpc("anvil_reorg", chain.number - int(sent["blockNumber"], 16) + 1, [])
    assert chain.rpc("eth_getTransactionByHash", tx_hash) is None

    def mine_again() -> str:
        return Wallet(chain, sent["from"]).send(sent["to"], bytes.fromhex(sent["input"][2:]))

    return mine_again


def told(shop: ChainShop, order_id: str) -> list[str]:
    return [event["type"] for event in shop.shop.events(order_id)]


def holders(shop: ChainShop, tx_hash: str) -> list[tuple[str | None, str]]:
    """Return which order what a transaction brought belongs to, and where it stands."""
    return [(row.order_id, row.state) for row in shop.shop.payments() if row.tx_hash == tx_hash]


def find(shop: ChainShop, tx_hash: str) -> Payment:
    (row,) = (row for row in shop.shop.payments() if row.tx_hash == tx_hash)
    return row


def burn(shop: ChainShop, reference: bytes, amount: int = PRICE + MOST_FEE) -> str:
    """Burn dollars for the shop; the order is named behind the calldata only, so that equal burns are alike."""
    net = shop.nets[ETHEREUM]
    (facts,) = read_deployments("cctp", ETHEREUM)
    messenger = net.chain.at(facts.get_address("token_messenger"), compiled("circle")["abi"])
    customer = shop.customer(ETHEREUM, USDC=10**11)
    customer.send(shop.token(ETHEREUM), bytes.fromhex("095ea7b3") + _words(messenger.address, amount))
    hook = b"cctp-forward".ljust(32, b"\0")
    recipient = bytes(12) + bytes.fromhex(shop.address[2:])
    order = (amount, 6, recipient, shop.token(ETHEREUM), bytes(32), MOST_FEE, 1_000, hook)
    return customer.send(messenger.address, data_of(messenger, "depositForBurnWithHook", *order) + reference)


def mint(shop: ChainShop, burnt: str) -> str:
    return forward(shop.nets[ETHEREUM], shop.nets[BASE], burnt, MOST_FEE)


def _words(address: str, amount: int) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:]) + amount.to_bytes(32)


@pytest.mark.rule("evidence.7")
def test_a_delivery_whose_deposit_its_chain_took_back_counts_for_nobody(shop: ChainShop) -> None:
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 5, "decimals": 0})
    crossing = Crossing(shop, reference)
    shop.look()
    fill = crossing.fill()
    shop.look()
    assert shop.outcome(order_id) == "processing/underpaid"
    lose(shop, crossing.tx_hash)
    shop.look()
    assert shop.outcome(order_id) == "created/reorged"
    assert shop.shop.order(order_id)["amount_received"] == "0"
    row = find(shop, fill)
    assert (row.order_id, row.evidence, row.source_tx_hash, row.unmatched_reason) == (None, "", None, "no_order")
    assert sorted(shop.unmatched()) == [("lost", order_id), ("no_order", order_id)]  # the deposit, and the delivery


@pytest.mark.rule("evidence.7")
@pytest.mark.parametrize("is_final", [False, True])
def test_a_deposit_that_is_lost_after_success_is_told_until_it_is_back(shop: ChainShop, is_final: bool) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    fill = crossing.fill()
    shop.look()
    assert shop.outcome(order_id) == "success/"
    if is_final:
        shop.nets[BASE].chain.mine(FINAL_BLOCKS)
        shop.look()
    assert holders(shop, fill) == [(order_id, "final" if is_final else "confirmed")]
    mine_again = lose(shop, crossing.tx_hash)
    shop.look()
    assert shop.outcome(order_id) == "success/reorged"
    assert told(shop, order_id)[-2:] == ["payment_success", "payment_failed"]
    assert ("no_order", order_id) in shop.unmatched()
    assert mine_again() == crossing.tx_hash
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.order(order_id)["amount_received"] == str(PRICE)
    assert told(shop, order_id)[-2:] == ["payment_failed", "payment_success"]
    assert shop.unmatched() == []
    shop.finalise()
    assert holders(shop, fill) == [(order_id, "final")]
    assert told(shop, order_id).count("payment_success") == 2


def test_a_deposit_that_is_mined_again_at_once_is_answered_once(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    fill = crossing.fill()
    shop.look()
    lose(shop, crossing.tx_hash)()
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert (holders(shop, fill), shop.unmatched()) == ([(order_id, "final")], [])
    assert shop.shop.order(order_id)["amount_received"] == str(PRICE)


def test_a_delivery_that_came_first_waits_for_its_deposit_and_goes_with_it(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    mine_again = lose(shop, crossing.tx_hash)
    fill = crossing.fill()
    shop.look()
    assert (shop.outcome(order_id), holders(shop, fill)[0][0]) == ("created/", None)
    assert mine_again() == crossing.tx_hash
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    lose(shop, crossing.tx_hash)
    shop.look()
    assert (shop.outcome(order_id), holders(shop, fill)[0][0]) == ("success/reorged", None)


def test_of_two_burns_alike_the_one_that_is_lost_takes_its_own_mint_along(shop: ChainShop) -> None:
    (first, mine), (second, other) = shop.order(), shop.order()
    burns = [burn(shop, mine), burn(shop, other)]
    shop.look()
    mints = [mint(shop, burns[0])]
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "created/")
    mints.append(mint(shop, burns[1]))
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "success/")
    lose(shop, burns[1])
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "success/reorged")
    assert [row[0] for each in mints for row in holders(shop, each)] == [first, None]


def test_a_mint_that_is_released_goes_to_a_burn_alike_that_stands(shop: ChainShop) -> None:
    (first, mine), (second, other) = shop.order(), shop.order()
    kept = burn(shop, other)
    taken = burn(shop, mine)
    shop.look()
    minted = mint(shop, taken)
    shop.look()
    holder, waiting = (first, second) if holders(shop, minted)[0][0] == first else (second, first)
    assert (shop.outcome(holder), shop.outcome(waiting)) == ("success/", "created/")
    lose(shop, taken if holder == first else kept)
    shop.look(3)
    if holder == second:
        burn(shop, mine)  # the reorganisation took both
        shop.look(3)
    assert (shop.outcome(holder), shop.outcome(waiting)) == ("success/reorged", "success/")
    assert [row[0] for row in holders(shop, minted)] == [waiting]


@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_large_deposit_is_proven_as_a_large_payment_is(opened: Opened, endpoints: int) -> None:
    """With two endpoints nothing waits until Ethereum is final; with one, only that stands in for another opinion."""
    shop, _ = opened(endpoints)
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 2_000, "decimals": 0})
    burnt = burn(shop, reference, 2_000 * PRICE + MOST_FEE)
    shop.look()
    mint(shop, burnt)
    shop.nets[BASE].chain.mine(FINAL_BLOCKS)
    shop.look(3)
    assert shop.outcome(order_id) == ("processing/" if endpoints == 1 else "success/")
    shop.finalise()
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("is_filled_first", [False, True])
@pytest.mark.parametrize("is_thorough", [False, True])
@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_forged_deposit_takes_no_delivery(
    opened: Opened, endpoints: int, is_thorough: bool, is_filled_first: bool
) -> None:
    """An endpoint tells a victim's deposit twice: as it is, and under a thief's reference."""
    shop, liar = opened(endpoints)
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    crossing = Crossing(shop, reference)
    forged = ForgedDeposit.of(shop.nets[ETHEREUM].chain, crossing.tx_hash, stolen, is_thorough=is_thorough)
    liar.lies.append(forged)
    if is_filled_first:
        crossing.fill()
    shop.look()
    if not is_filled_first:
        crossing.fill()
    shop.look(SETTLED)
    shop.finalise()
    assert not shop.outcome(thiefs).startswith("success")
    liar.lies.clear()
    shop.pass_time(PAUSE_S)
    shop.look(3)
    assert shop.outcome(victims) == "success/"
    assert "payment_success" not in told(shop, thiefs)
    assert shop.outcome(thiefs).startswith("created/")
    assert find(shop, forged.tx_hash).state == ("disputed" if endpoints == 1 else "reorged")


@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_forged_deposit_in_place_of_the_real_one_takes_no_delivery(opened: Opened, endpoints: int) -> None:
    """The victim's own deposit is kept back meanwhile, and found by the report of its wallet."""
    shop, liar = opened(endpoints)
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    crossing = Crossing(shop, reference)
    liar.lies.append(ForgedDeposit.of(shop.nets[ETHEREUM].chain, crossing.tx_hash, stolen, hides=True))
    shop.look()
    fill = crossing.fill()
    shop.look(SETTLED)
    shop.finalise()
    assert not shop.outcome(thiefs).startswith("success")
    liar.lies.clear()
    report_payment(shop.shop.resources, victims, chain_id=ETHEREUM, tx_hash=crossing.tx_hash)
    shop.look(SETTLED)
    shop.finalise()
    assert shop.outcome(victims) == "success/"
    assert "payment_success" not in told(shop, thiefs)
    assert [row[0] for row in holders(shop, fill)] == [victims]


@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_real_deposit_under_another_orders_reference_takes_no_delivery(opened: Opened, endpoints: int) -> None:
    shop, liar = opened(endpoints)
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    crossing = Crossing(shop, reference)
    size = len(shop.nets[ETHEREUM].chain.rpc("eth_getTransactionByHash", crossing.tx_hash)["input"]) - 32
    liar.lies.append(relabel(crossing.tx_hash, stolen, size))
    shop.look(1)
    assert holders(shop, crossing.tx_hash) == [(thiefs, "seen")]
    fill = crossing.fill()
    shop.look(1)
    assert not shop.outcome(thiefs).startswith("success")
    shop.look(SETTLED)
    shop.finalise()
    liar.lies.clear()
    shop.look(SETTLED)
    shop.finalise()
    assert shop.outcome(victims) == "success/"
    assert "payment_success" not in told(shop, thiefs)
    assert [row[0] for row in holders(shop, fill)] == [victims]


@pytest.mark.rule("evidence.7")
def test_what_is_delivered_goes_back_only_once_its_deposit_is_final(shop: ChainShop) -> None:
    """Whoever was paid back for a burn that its chain lost had a second order paid by the same mint."""
    (first, mine), (second, other) = shop.order(), shop.order()
    kept = burn(shop, other)
    taken = burn(shop, mine)
    shop.look()
    minted = mint(shop, taken)
    shop.look()
    shop.nets[BASE].chain.mine(FINAL_BLOCKS)
    shop.look()
    ((holder, state),) = holders(shop, minted)
    assert state == "final"
    body = {"to": somebody("refunded")}
    answer = shop.shop.post(f"/api/v1/payment/{holder}/refund", body)
    lose(shop, taken if holder == first else kept)
    shop.look(3)
    if holder == second:
        burn(shop, mine)  # the reorganisation took both
        shop.look(3)
    assert shop.outcome(second if holder == first else first) == "success/"
    assert answer.status_code == 409, "the mint pays the other order: nobody is to be paid back by it"
    assert taken in answer.json["message"] or kept in answer.json["message"]
    assert int(answer.headers["Retry-After"]) > 0


def test_it_goes_back_once_both_are_final(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    crossing.fill()
    shop.look()
    shop.finalise()
    body = {"to": somebody("refunded")}
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund", body).status_code == 200


def test_nobody_is_told_to_ask_again_for_what_becomes_final_no_more(
    shop: ChainShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: whose deposit lies on a chain that was disconnected was told to ask again in two seconds, for ever."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    crossing.fill()
    shop.look()
    shop.nets[BASE].chain.mine(FINAL_BLOCKS)
    shop.look()
    monkeypatch.setattr(ChainLedger, "chain_ids", frozenset({BASE}))
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"to": somebody("refunded")})
    assert answer.status_code == 409
    assert "chain 1 was disconnected" in answer.json["message"]
    assert "by hand" in answer.json["error"][0]["message"]
    assert "Retry-After" not in answer.headers


def test_no_success_rests_on_a_delivery_whose_deposit_may_still_be_lost(shop: ChainShop) -> None:
    """What was assigned would pay a second order, and the first would have been paid by nothing."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    customer = shop.customer(BASE, USDC=PRICE)
    paid = customer.pay(shop.token(BASE), shop.address, PRICE - 1)
    shop.look()
    transfer = find(shop, paid).public_id
    with shop.shop.resources.database.write() as session:
        assign(session, transfer, order_id, shop.clock.now())
    fill = crossing.fill()
    shop.look()
    shop.nets[BASE].chain.mine(FINAL_BLOCKS)
    shop.look()
    assert (shop.outcome(order_id).split("/")[0], holders(shop, fill)) == ("success", [(order_id, "final")])
    with pytest.raises(Conflict, match="has succeeded with this"), shop.shop.resources.database.write() as session:
        unassign(session, transfer, shop.clock.now())
    shop.finalise()
    with shop.shop.resources.database.write() as session:
        assert unassign(session, transfer, shop.clock.now()).status == "success"
