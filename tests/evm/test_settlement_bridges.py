"""Orders paid from another chain over Across: deposit, fill, and a fill that never comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from eth_abi import encode
from eth_utils import keccak

from tests.support.evm import ACTOR
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop

BASE, ETHEREUM = 8453, 1
LIFE_S = 3600
"""How long relayers may take."""
PAID = PRICE + 1_000
"""What the customer deposits for a dollar: the relayer keeps the rest."""


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture
def shop(nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ChainShop]:
    with chain_shop(nets, tmp_path, request.node.name) as opened:
        yield opened


def word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


class Crossing:
    """One deposit on Ethereum that a relayer on Base may fill."""

    def __init__(self, shop: ChainShop, reference: bytes, *, coin: bool = False) -> None:
        self.shop = shop
        self.customer = shop.customer(ETHEREUM)
        self.token_in, self.token_out = shop.token(ETHEREUM), shop.token(BASE, "WETH" if coin else "USDC")
        self.amount_out = 10**15 if coin else PRICE
        net = shop.nets[ETHEREUM]
        self.pool = net.spoke_pool
        now = int(net.chain.now())
        self.deadline = now + LIFE_S
        self.deposit_id = int(self.pool("numberOfDeposits"))
        approve = bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [self.pool.address, PAID])
        self.customer.send(self.token_in, approve)
        deposit = self.pool.functions["deposit"]
        order = (
            *(word(self.customer.address), word(shop.address), word(self.token_in), word(self.token_out)),
            *(PAID, self.amount_out, BASE, bytes(32), now, self.deadline, 0, b""),
        )
        self.tx_hash = self.customer.send(
            self.pool.address, deposit.selector + encode(deposit.inputs, order) + reference
        )

    def fill(self) -> str:
        """Let a relayer pay the merchant; return the transaction's hash."""
        pool = self.shop.nets[BASE].spoke_pool
        relay = (
            *(word(self.customer.address), word(self.shop.address), bytes(32), word(self.token_in)),
            *(word(self.token_out), PAID, self.amount_out, ETHEREUM, self.deposit_id, self.deadline, 0, b""),
        )
        fill = pool.functions["fillRelay"]
        data = fill.selector + encode(fill.inputs, (relay, ETHEREUM, word(ACTOR)))
        return Wallet(self.shop.nets[BASE].chain, ACTOR).send(pool.address, data)


def test_a_deposit_and_its_fill_pay_the_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    assert shop.outcome(order_id) == "processing/"
    fill = crossing.fill()
    shop.look()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE
    assert order["transaction_hash"] == crossing.tx_hash
    assert [(row["chain_id"], row["hash"]) for row in order["transactions"]] == [
        (ETHEREUM, crossing.tx_hash),
        (BASE, fill),
    ]
    assert shop.shop.events(order_id)[-1]["data"]["transactions"] == order["transactions"]


def test_a_fill_that_is_seen_before_its_deposit_is_attributed_later(shop: ChainShop) -> None:
    """Base is read before Ethereum, and both transactions are there at the first look."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    crossing.fill()
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert shop.unmatched() == []
    assert shop.shop.order(order_id)["transaction_hash"] == crossing.tx_hash


def test_a_fill_in_coin_leaves_no_transfer_and_counts_all_the_same(shop: ChainShop) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 3})
    Crossing(shop, reference, coin=True).fill()
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE, "ETH") == 10**15


def test_a_fill_that_never_comes_fails_the_order_and_says_where_the_money_is(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    shop.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    shop.look()
    assert shop.outcome(order_id) == "failed/route_failed"
    stranded = shop.shop.order(order_id)["stranded"]
    assert stranded == [
        {
            "chain_id": ETHEREUM,
            "token_address": shop.token(ETHEREUM),
            "amount": str(PAID),
            "bridge": "across",
            "deposit_hash": crossing.tx_hash,
            "owner": crossing.customer.address,
            "refund_hash": "",
            "next_step": stranded[0]["next_step"],
        }
    ]
    assert "by itself" in stranded[0]["next_step"]


def test_what_the_bridge_gives_back_is_found(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    shop.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    shop.look()
    refund = give_back(shop, crossing)
    shop.look()
    stranded = shop.shop.order(order_id)["stranded"]
    assert stranded[0]["refund_hash"] == refund
    assert shop.nets[ETHEREUM].balance(crossing.customer.address, "USDC") >= PAID
    assert shop.outcome(order_id) == "failed/route_failed"


def give_back(shop: ChainShop, crossing: Crossing) -> str:
    """Return a deposit as the bridge does: by a leaf of a root that its owner relays."""
    net = shop.nets[ETHEREUM]
    pool, chain = net.spoke_pool, net.chain
    net.tokens["USDC"]("transfer", pool.address, PAID)
    leaf = (0, ETHEREUM, [PAID], 0, crossing.token_in, [crossing.customer.address])
    root = keccak(encode(["(uint256,uint256,uint256[],uint32,address,address[])"], [leaf]))
    pool("initialize", 0, ACTOR)
    pool("relayRootBundle", root, bytes(32))
    execute = pool.functions["executeRelayerRefundLeaf"]
    return Wallet(chain, ACTOR).send(pool.address, execute.selector + encode(execute.inputs, (0, leaf, [])))
