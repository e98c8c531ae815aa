"""Random histories of honest and hostile acts on real chains, and what must hold after each of them.

The book-keeping knows for every transaction who paid and for which order, if any. What the service made of it is then
compared with that, and with what the merchants' addresses received on the chains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from eth_abi import encode
from eth_account import Account
from eth_account.signers.local import LocalAccount
from sqlalchemy import select

from adapters.rpc.multicall import MULTICALL3
from api.domain.clock import format_time
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.services.settlement.watching.reported_payments import report_payment
from api.storage.tables import Payment, PaymentOrder
from routing_engine.model import NATIVE_ADDRESS
from tests.support.across import Crossing
from tests.support.claims import sign_all
from tests.support.settlement import FINAL_BLOCKS, PRICE, ChainShop, Wallet, transfer_data

BASE, ETHEREUM = 8453, 1
AGGREGATE = bytes.fromhex("82ad56cb")
"""``aggregate3((address,bool,bytes)[])`` of Multicall3."""
APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
ACTS_A_HISTORY = 14
LAST_LOOKS = 8
"""Enough for a worker that dies now and then to see everything."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order of one of the shops."""

    shop: ChainShop
    order_id: str
    reference: bytes


@dataclass
class History:
    """One history.

    Parameters
    ----------
    shops : sequence of ChainShop
        Vendors and environments on the same chains and in the same database.
    rng : Random
        Throws the dice.
    truth : dict
        By chain and hash, the order that a transaction pays; None for none.
    """

    shops: Sequence[ChainShop]
    rng: Random
    orders: list[Order] = field(default_factory=list)
    truth: dict[tuple[int, str], str | None] = field(default_factory=dict)
    crossings: list[tuple[Order, Crossing]] = field(default_factory=list)
    fills: dict[str, tuple[Order, str]] = field(default_factory=dict)
    trades: list[tuple[LocalAccount, str]] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def run(self, death: type[Exception], acts: int = ACTS_A_HISTORY) -> None:
        """Let things happen, and look at the chains now and then; the worker dies of `death` meanwhile."""
        self.starts = {chain_id: net.chain.number for chain_id, net in self.shops[0].nets.items()}
        for _ in range(3):
            self._order()
        names = sorted(ACTS)
        for _ in range(acts):
            name = self.rng.choice(names)
            self.log.append(name)
            ACTS[name](self)
            if self.rng.random() < 0.6:
                self.look(death)

    def look(self, death: type[Exception]) -> None:
        """Let the worker look; if it dies half-way, another one begins anew later."""
        with suppress(death):
            self.shops[0].look(1)

    def settle(self, death: type[Exception]) -> None:
        """Let everything become final, and be seen."""
        self.shops[0].pass_time(2, FINAL_BLOCKS)
        for _ in range(LAST_LOOKS):
            self.look(death)

    def pick(self) -> Order:
        return self.rng.choice(self.orders)

    def _order(self) -> None:
        shop = self.rng.choice(self.shops)
        later = format_time(shop.clock.now() + timedelta(minutes=self.rng.choice([31, 600])))
        order_id, reference = shop.order(expires_at=later)
        self.orders.append(Order(shop=shop, order_id=order_id, reference=reference))

    def note(self, chain_id: int, tx_hash: str, order: Order | None) -> None:
        self.truth[chain_id, tx_hash] = order.order_id if order else None


def _amount(history: History) -> int:
    return history.rng.choice([1, PRICE // 200, PRICE // 2, PRICE, PRICE, PRICE, PRICE + 1, 3 * PRICE])


def _customer(history: History, chain_id: int = BASE) -> Wallet:
    return history.shops[0].customer(chain_id, f"customer {history.rng.randrange(5)}", DAI=100 * 10**18)


def _maker(history: History, account: LocalAccount) -> Wallet:
    net, address = history.shops[0].nets[BASE], account.address.lower()
    net.fund(address, "ETH", 10**18)
    net.fund(address, "USDC", PRICE)
    return Wallet(net.chain, address)


def create(history: History) -> None:
    history._order()


def pay(history: History) -> None:
    order = history.pick()
    token = order.shop.token(BASE)
    sent = _customer(history).pay(token, order.shop.address, _amount(history), order.reference)
    history.note(BASE, sent, order)


def pay_twice_in_one_block(history: History) -> None:
    order = history.pick()
    token = order.shop.token(BASE)
    for name in ("one", "two"):
        payer = history.shops[0].customer(BASE, name)
        history.note(BASE, payer.pay(token, order.shop.address, PRICE, order.reference, mine=False), order)
    order.shop.nets[BASE].chain.mine()


def pay_on_the_wrong_chain(history: History) -> None:
    order = history.pick()
    sent = _customer(history, ETHEREUM).pay(order.shop.token(ETHEREUM), order.shop.address, PRICE, order.reference)
    history.note(ETHEREUM, sent, order)


def pay_in_another_token(history: History) -> None:
    order = history.pick()
    amount = history.rng.choice([1, 10**18])
    sent = _customer(history).pay(order.shop.token(BASE, "DAI"), order.shop.address, amount, order.reference)
    history.note(BASE, sent, order)


def pay_in_coin(history: History) -> None:
    order = history.pick()
    sent = _customer(history).send(order.shop.address, order.reference, value=10**15)
    history.note(BASE, sent, order)


def pay_without_reference_and_let_a_thief_report_it(history: History) -> None:
    victim, thiefs = history.pick(), history.pick()
    sent = _customer(history).pay(victim.shop.token(BASE), victim.shop.address, PRICE)
    history.note(BASE, sent, None)
    report_payment(thiefs.shop.shop.resources, thiefs.order_id, chain_id=BASE, tx_hash=sent)


def name_another_vendors_order(history: History) -> None:
    """The reference is one vendor's, the money another's: it is nobody's order's."""
    order = history.pick()
    others = [shop for shop in history.shops if shop.address != order.shop.address]
    sent = _customer(history).pay(order.shop.token(BASE), history.rng.choice(others).address, PRICE, order.reference)
    history.note(BASE, sent, None)


def spend_a_victims_allowance(history: History) -> None:
    """A contract that a victim has allowed to spend is told by a thief to pay with the thief's reference."""
    order, net = history.pick(), history.shops[0].nets[BASE]
    victim = _customer(history)
    token = order.shop.token(BASE)
    victim.send(token, APPROVE + encode(["address", "uint256"], [MULTICALL3, PRICE]))
    moved = TRANSFER_FROM + encode(["address", "address", "uint256"], [victim.address, order.shop.address, PRICE])
    thief = Wallet(net.chain, history.shops[0].customer(BASE, "thief").address)
    tail = history.rng.choice([b"", order.reference])
    data = AGGREGATE + encode(["(address,bool,bytes)[]"], [[(token, False, moved + tail)]]) + order.reference
    history.note(BASE, thief.send(MULTICALL3, data), None)


def fill_a_limit_order(history: History) -> None:
    """A customer takes a maker's dollars for dollars of another kind, straight to the merchant."""
    order, customer = history.pick(), _customer(history)
    maker: LocalAccount = Account.from_key(history.rng.randbytes(32))
    usdc, dai = order.shop.token(BASE), order.shop.token(BASE, "DAI")
    for who, token in ((_maker(history, maker), usdc), (customer, dai)):
        who.send(token, APPROVE + encode(["address", "uint256"], [MULTICALL3, 10**18]))
    ways = ((dai, customer.address, maker.address, 10**18), (usdc, maker.address, order.shop.address, PRICE))
    calls = [(token, False, TRANSFER_FROM + encode(["address", "address", "uint256"], way)) for token, *way in ways]
    tail = history.rng.choice([b"", order.reference])
    sent = customer.send(MULTICALL3, AGGREGATE + encode(["(address,bool,bytes)[]"], [calls]) + tail)
    history.note(BASE, sent, None)
    history.trades.append((maker, sent))


def claim_as_a_maker(history: History) -> None:
    """Whoever sold to a customer signs for whatever is offered to him."""
    order = history.pick()
    for maker, tx_hash in history.trades:
        sign_all(order.shop, order.order_id, tx_hash, maker)


def pay_two_orders_in_a_bundle(history: History) -> None:
    """Each call of a batch pays with the batch's own money, by its own reference."""
    first, second = history.pick(), history.pick()
    if first.order_id == second.order_id:
        return
    net = first.shop.nets[BASE]
    net.fund(MULTICALL3, "USDC", 2 * PRICE)
    token = first.shop.token(BASE)
    calls = [(token, False, transfer_data(order.shop.address, PRICE) + order.reference) for order in (first, second)]
    sent = _customer(history).send(MULTICALL3, AGGREGATE + encode(["(address,bool,bytes)[]"], [calls]))
    for order in (first, second):
        history.truth[BASE, f"{sent}/{order.shop.address}"] = order.order_id
    if first.shop.address == second.shop.address:
        history.truth[BASE, f"{sent}/{first.shop.address}"] = f"{first.order_id}|{second.order_id}"


def deposit(history: History) -> None:
    order = history.pick()
    crossing = Crossing(order.shop, order.reference)
    history.note(ETHEREUM, crossing.tx_hash, order)
    history.crossings.append((order, crossing))


def fill(history: History) -> None:
    if history.crossings:
        order, crossing = history.crossings.pop(history.rng.randrange(len(history.crossings)))
        history.fills[crossing.fill()] = order, crossing.tx_hash


def fake_fill(history: History) -> None:
    """A stranger fills something else under the id of an open deposit: a unit that nobody asked for."""
    if history.crossings:
        _, crossing = history.rng.choice(history.crossings)
        amount, crossing.amount_out = crossing.amount_out, 1
        history.note(BASE, crossing.fill(), None)
        crossing.amount_out = amount


def junk_reports(history: History) -> None:
    order = history.pick()
    for _ in range(5):
        made_up = "0x" + history.rng.randbytes(32).hex()
        report_payment(order.shop.shop.resources, order.order_id, chain_id=BASE, tx_hash=made_up)


def cancel(history: History) -> None:
    order = history.pick()
    order.shop.shop.post(f"/api/v1/payment/{order.order_id}/cancel", env_mode=order.shop.env_mode)


def expire(history: History) -> None:
    history.shops[0].pass_time(32 * 60)
    history._order()


def reorganise(history: History) -> None:
    chain_id = history.rng.choice([BASE, ETHEREUM])
    history.shops[0].nets[chain_id].chain.rpc("anvil_reorg", history.rng.randint(1, 4), [])


def refund(history: History) -> None:
    """A vendor sends back what it may, in part or whole; its wallet signs, or not."""
    order = history.pick()
    shop = order.shop
    transfers = shop.shop.order(order.order_id, env_mode=shop.env_mode)["transfers"]
    final = [row for row in transfers if row["status"] == "final" and row["from"] and int(row["amount_left"])]
    if not final:
        return
    row = history.rng.choice(final)
    body = {"transfer": row["id"], "amount": str(history.rng.randint(1, int(row["amount_left"])))}
    answer = shop.shop.post(f"/api/v1/payment/{order.order_id}/refund", body, env_mode=shop.env_mode)
    if answer.status_code == 200 and history.rng.random() < 0.7:
        for asked in answer.get_json()["refunds"]:
            if asked["transaction"]:
                sent = asked["transaction"]
                data = bytes.fromhex(sent["data"][2:])
                shop.wallet(sent["chain_id"]).send(sent["to"], data, value=int(sent["value"], 16))


def pass_time(history: History) -> None:
    history.shops[0].pass_time(history.rng.randint(5, 400), history.rng.randint(1, 70))


ACTS: Mapping[str, Callable[[History], None]] = {
    act.__name__: act
    for act in (
        create,
        pay,
        pay_twice_in_one_block,
        pay_on_the_wrong_chain,
        pay_in_another_token,
        pay_in_coin,
        pay_without_reference_and_let_a_thief_report_it,
        name_another_vendors_order,
        spend_a_victims_allowance,
        fill_a_limit_order,
        claim_as_a_maker,
        pay_two_orders_in_a_bundle,
        deposit,
        fill,
        fake_fill,
        junk_reports,
        cancel,
        expire,
        reorganise,
        refund,
        pass_time,
    )
}


def find_wrongs(history: History) -> list[str]:
    """Return what does not hold: nothing, if the service did right."""
    with history.shops[0].shop.resources.database.read() as session:
        addresses = {shop.address for shop in history.shops}
        query = select(Payment).where(Payment.state.not_in(GONE), Payment.kind == TransferKind.PAYMENT)
        payments = list(session.scalars(query.where(Payment.recipient.in_(addresses))))
        known = select(PaymentOrder).where(PaymentOrder.settlement_address.in_(addresses))
        orders = {row.id: row for row in session.scalars(known)}
    return [*_wrong_owners(history, payments), *_wrong_sums(history, payments), *_wrong_books(orders, payments)]


def _wrong_owners(history: History, payments: Sequence[Payment]) -> list[str]:
    """Each transfer counts for its payer's order only."""
    wrong = []
    ethereum = history.shops[0].nets[ETHEREUM].chain
    for tx_hash, (order, deposit_hash) in history.fills.items():
        # A deposit that its chain has lost stands for nothing any more.
        is_there = ethereum.rpc("eth_getTransactionReceipt", deposit_hash) is not None
        history.truth[BASE, tx_hash] = order.order_id if is_there else None
    for row in payments:
        key = (row.chain_id, row.tx_hash)
        wanted = history.truth.get(key, history.truth.get((row.chain_id, f"{row.tx_hash}/{row.recipient}"), "?"))
        if wanted is None and row.order_id is not None:
            wrong.append(f"{row.tx_hash}: taken by {row.order_id} ({row.evidence})")
        if wanted not in (None, "?") and row.order_id not in wanted.split("|"):
            wrong.append(f"{row.tx_hash}: {row.order_id or row.unmatched_reason} instead of {wanted}")
        if wanted == "?":
            wrong.append(f"{row.tx_hash}: nobody sent that")
    return wrong


def _wrong_sums(history: History, payments: Sequence[Payment]) -> list[str]:
    """What orders have and what nobody has is what the merchants' addresses received, to the unit."""
    known: Counter[tuple[int, str, str]] = Counter()
    for row in payments:
        known[row.chain_id, row.recipient, row.token_address] += row.amount
    real: Counter[tuple[int, str, str]] = Counter()
    addresses = {shop.address for shop in history.shops}
    for chain_id, net in history.shops[0].nets.items():
        topics = ["0x" + "00" * 12 + address[2:] for address in addresses]
        wanted = {
            "fromBlock": hex(history.starts[chain_id]),
            "toBlock": "latest",
            "topics": [TRANSFER_TOPIC, None, topics],
        }
        for log in net.chain.rpc("eth_getLogs", wanted):
            if len(log["topics"]) == 3:
                real[chain_id, "0x" + log["topics"][2][-40:], log["address"].lower()] += int(log["data"], 16)
        for number in range(history.starts[chain_id], net.chain.number + 1):
            for sent in net.chain.rpc("eth_getBlockByNumber", hex(number), True)["transactions"]:
                if sent["to"] in addresses and int(sent["value"], 16):
                    real[chain_id, sent["to"], NATIVE_ADDRESS] += int(sent["value"], 16)
    return [f"{key}: {known[key]} of {real[key]}" for key in {*known, *real} if known[key] != real[key]]


def _wrong_books(orders: Mapping[str, PaymentOrder], payments: Sequence[Payment]) -> list[str]:
    """An order says what it received, and succeeded only with all of it."""
    wrong = []
    for order in orders.values():
        mine = [row for row in payments if row.order_id == order.id]
        settled = sum(
            row.amount
            for row in mine
            if (row.chain_id, row.token_address) == (order.settlement_chain_id, order.settlement_token_address)
        )
        if order.amount_received != settled:
            wrong.append(f"{order.id}: says {order.amount_received}, has {settled}")
        if order.status == "success" and order.status_reason != "reorged" and settled < (order.settlement_amount or 0):
            wrong.append(f"{order.id}: succeeded with {settled}")
    return wrong
