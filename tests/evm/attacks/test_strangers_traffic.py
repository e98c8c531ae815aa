"""Who makes the watcher look for something: it looks for that alone, and reads nobody else's business without end."""

from __future__ import annotations

from collections import Counter

import pytest
from eth_abi import encode
from eth_utils.crypto import keccak
from sqlalchemy import select

from api.domain.env import EnvMode
from api.domain.ledger import ChainUnavailable
from api.domain.transfers import Transfer
from api.services.ledger import look_budgets
from api.services.ledger.trace_probe import TraceProbe
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching import second_looks
from api.services.settlement.watching.awaited_back import list_awaited_returns
from api.services.settlement.watching.watched_chain import WatchedChain
from api.storage.tables import Payment
from tests.support.across import NOBODY, make_word
from tests.support.attacks import BASE, ETHEREUM, counted_questions, run
from tests.support.evm import Contract
from tests.support.settlement import PRICE, ChainShop, open_another, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

BUSY = "0x" + "b5" * 20
"""Stands for an exchange's wallet, or a contract that everybody uses."""
APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")
RECEIPT, TRACE = "eth_getTransactionReceipt", "debug_traceTransaction"
COIN = {"currency": "ETH", "amount": 1, "decimals": 3}
WEI = 10**15
TRAFFIC = 12


@pytest.fixture(autouse=True)
def no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a chain can trace is asked by traces too, now and then."""
    monkeypatch.setattr(TraceProbe, "ask", lambda self: True)


def look(shop: ChainShop, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> Counter[str]:
    """Return what these looks asked."""
    with counted_questions(monkeypatch) as asked:
        shop.look(times)
    return asked


def make_traffic(shop: ChainShop, runner: Contract, to: str, chain_id: int = BASE) -> None:
    """Let strangers send tokens to an address, through a contract, in one block."""
    token = shop.token(chain_id)
    shop.nets[chain_id].fund(runner.address.lower(), "USDC", TRAFFIC)
    crowd = shop.customer(chain_id, "crowd")
    for _ in range(TRAFFIC):
        call = run(runner, (token, 0, transfer_data(to, 1)))
        crowd.send(runner.address, call, mine=False, gas=hex(200_000))
    shop.nets[chain_id].chain.mine()


def name_merchant(shop: ChainShop, runner: Contract, times: int) -> None:
    """Let strangers name a merchant in transactions that pay nobody, in one block."""
    naming = bytes.fromhex("70a08231") + bytes(12) + bytes.fromhex(shop.address[2:])
    crowd = shop.customer(BASE, "crowd")
    for _ in range(times):
        crowd.send(runner.address, run(runner, (shop.token(BASE), 0, naming)), mine=False, gas=hex(200_000))
    shop.nets[BASE].chain.mine()


def pay_coin(shop: ChainShop, name: str) -> str:
    """Pay an order by an inner call, of which no event tells; return its id."""
    order_id, reference = shop.order(order_price=COIN)
    account = shop.nets[BASE].chain.deploy(compiled("runner"))
    shop.nets[BASE].fund(account.address.lower(), "ETH", WEI)
    shop.customer(BASE, name).send(account.address, run(account, (shop.address, WEI, reference)))
    return order_id


def ask_back(shop: ChainShop, to: str, *, coin: bool = False) -> tuple[str, dict[str, str]]:
    """Be paid, and ask for one unit of it to be sent somewhere; return the order and what is to be signed."""
    order_id, reference = shop.order(**({"order_price": COIN} if coin else {}))
    customer = shop.customer(BASE, "accomplice")
    if coin:
        customer.send(shop.address, reference, value=WEI)
    else:
        customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": "1", "to": to})
    assert answer.status_code == 200, answer.get_json()
    return order_id, answer.get_json()["refunds"][0]["transaction"]


def become_contract(shop: ChainShop, runner: Contract) -> None:
    """Put an account's code at the merchant's own address."""
    code = shop.nets[BASE].chain.rpc("eth_getCode", runner.address, "latest")
    shop.nets[BASE].chain.set_code(shop.address, bytes.fromhex(code[2:]))


@pytest.mark.parametrize("coin", [False, True], ids=["token", "coin"])
def test_a_refund_to_a_busy_address_makes_nobody_elses_traffic_read(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch, coin: bool
) -> None:
    evil = open_another(shop, "evil vendor")
    ask_back(evil, BUSY, coin=coin)
    other = shop.nets[ETHEREUM].chain.deploy(compiled("runner"))
    make_traffic(shop, runner, BUSY)
    make_traffic(shop, other, BUSY, ETHEREUM)
    asked = look(shop, monkeypatch)
    shop.pass_time(400)
    asked += look(shop, monkeypatch, 3)
    assert (asked[RECEIPT], asked[TRACE]) == (0, 0)


def test_a_look_asks_for_no_more_events_because_refunds_are_open(
    shop: ChainShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question more has all of them, on their own chain."""
    order_id, _ = ask_back(shop, BUSY)
    shop.look(3)
    one = look(shop, monkeypatch)["eth_getLogs"]
    for number in range(2, 10):
        body = {"amount": "1", "to": f"0x{number:02x}" + "a5" * 19}
        assert shop.shop.post(f"/api/v1/payment/{order_id}/refund", body).status_code == 200
    assert look(shop, monkeypatch)["eth_getLogs"] == one


def test_what_is_no_refund_is_not_read_for_one(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may move nothing in the merchant's name, and the merchant may send another token to the same address."""
    ask_back(shop, BUSY)
    shop.nets[BASE].fund(shop.address, "WETH", 1)
    shop.look(3)
    poison = TRANSFER_FROM + encode(["address", "address", "uint256"], [shop.address, BUSY, 0])
    shop.customer(BASE, "stranger").send(shop.token(BASE), poison)
    shop.wallet(BASE).pay(shop.token(BASE, "WETH"), BUSY, 1)
    asked = look(shop, monkeypatch, 2)
    # A transaction that names the merchant is looked into, as it may send coin: its receipt, and its trace once.
    assert (asked[RECEIPT], asked[TRACE]) == (1, 1)


@pytest.mark.rule("refunds.11")
@pytest.mark.parametrize("coin", [False, True], ids=["token", "coin"])
@pytest.mark.parametrize("is_account", [False, True], ids=["wallet", "smart account"])
def test_a_refund_is_found_however_the_merchant_sends_it(
    shop: ChainShop, runner: Contract, is_account: bool, coin: bool
) -> None:
    order_id, asked = ask_back(shop, BUSY, coin=coin)
    sent = asked["to"], int(asked["value"], 16), bytes.fromhex(asked["data"][2:])
    if is_account:
        become_contract(shop, runner)
        shop.customer(BASE, "owner").send(shop.address, run(runner, (BUSY, 0, b""), sent))
    else:
        shop.wallet(BASE).send(sent[0], sent[2], value=sent[1])
    shop.look()
    shop.finalise()
    (refund,) = shop.shop.order(order_id)["refunds"]
    assert refund["status"] == "final"


def test_a_strangers_deposit_makes_nothing_be_watched_for(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """He has only the link, and deposits in the name of a contract that makes calls for anybody."""
    _, reference = shop.order()
    net, token = shop.nets[ETHEREUM], shop.token(ETHEREUM)
    busy = net.chain.deploy(compiled("runner"))
    net.fund(busy.address.lower(), "USDC", 100)
    pool, now = net.spoke_pool.address, int(net.chain.now())
    types = ["bytes32"] * 4 + ["uint256"] * 3 + ["bytes32"] + ["uint32"] * 3 + ["bytes"]
    words = [make_word(each) for each in (busy.address.lower(), shop.address, token, shop.token(BASE))]
    values = [*words, 10, 1, BASE, make_word(NOBODY), now, now + 60, 0, b""]
    deposit = keccak(text=f"deposit({','.join(types)})")[:4] + encode(types, values) + reference
    approve = APPROVE + encode(["address", "uint256"], [pool, 10])
    shop.customer(ETHEREUM, "stranger").send(busy.address, run(busy, (token, 0, approve), (pool, 0, deposit)))
    shop.look()
    assert [row.is_built for row in shop.shop.payments()] == [False]
    shop.pass_time(3600, 80)
    shop.look(4)
    shop.finalise()
    assert [row.is_overdue for row in shop.shop.payments()] == [True]
    make_traffic(shop, busy, busy.address.lower(), ETHEREUM)
    asked = look(shop, monkeypatch)
    assert (asked[RECEIPT], asked[TRACE]) == (0, 0)
    with shop.shop.resources.database.look() as place:
        for chain_id in (BASE, ETHEREUM):
            assert list_awaited_returns(place, EnvMode.TEST, chain_id, shop.clock.now()) == frozenset()


@pytest.mark.rule("evidence.4")
@pytest.mark.parametrize("limit", ["TRACES", "RECEIPTS"])
def test_who_names_one_merchant_takes_no_other_merchants_turn(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """A look reads so much and no more, and other vendors first; what it puts off it reads once, and then never."""
    monkeypatch.setattr(look_budgets, f"{limit}_A_LOOK", 6)
    monkeypatch.setattr(look_budgets, f"{limit}_OF_ONE", 3)
    other = open_another(shop, "the other merchant")
    name_merchant(shop, runner, TRAFFIC)
    late, soon = pay_coin(shop, "late"), pay_coin(other, "soon")
    asked = look(shop, monkeypatch)
    assert asked[TRACE if limit == "TRACES" else RECEIPT] <= 6
    assert (other.outcome(soon), shop.outcome(late)) == ("processing/", "created/")
    asked += look(shop, monkeypatch, TRAFFIC)
    assert shop.outcome(late) == "processing/"
    with shop.shop.resources.database.read() as session:
        payments = len(session.scalars(select(Payment)).all())
    traced = TRAFFIC + payments
    assert traced <= asked[TRACE] <= traced + 2 * payments, "each once, and payments to prove them"
    shop.pass_time(400)
    assert look(shop, monkeypatch, 3)[TRACE] == 0


def test_what_was_read_is_not_read_again_without_new_traffic(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block that may hold more than was told is looked into again: for what was passed over, not for all of it."""
    make_traffic(shop, runner, shop.address)
    first = look(shop, monkeypatch)
    assert first[TRACE] >= TRAFFIC
    shop.look(2)
    shop.pass_time(400)
    assert look(shop, monkeypatch, 3)[TRACE] == 0


def test_what_could_not_be_written_is_read_again(
    shop: ChainShop, runner: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that was put off is read, and screening fails before it is written down."""
    monkeypatch.setattr(look_budgets, "TRACES_A_LOOK", 2)
    name_merchant(shop, runner, TRAFFIC)
    order_id = pay_coin(shop, "late")
    observe, failed = second_looks.observe_chain, []

    def fail_once(chain: WatchedChain, transfers: tuple[Transfer, ...]) -> ChainObservation:
        if transfers and not failed:
            failed.extend(transfers)
            raise ChainUnavailable("screening does not answer")
        return observe(chain, transfers)

    monkeypatch.setattr(second_looks, "observe_chain", fail_once)
    shop.look(2 * TRAFFIC)
    assert [row.recipient for row in failed] == [shop.address]
    assert shop.outcome(order_id) == "processing/"
