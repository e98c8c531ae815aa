"""Orders paid over CCTP and Stargate: quoted, built, signed once, and followed until the merchant has the price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from eth_abi import decode

from adapters.bridges.cctp.adapter import CctpAdapter
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.bridges.stargate.firm_quotes import StargateQuotes
from adapters.bridges.stargate.protocol import SOMEBODY, make_path, read_paths
from adapters.chain.deployments import read_deployments
from adapters.rpc.reading import run
from adapters.rpc.responder import ChainClient, ChainResponder
from adapters.testing import ReplayClient
from routing_engine import Market
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.reference import token_registry
from tests.support.circle import burn_of, deploy_circle, forward
from tests.support.databases import Databases
from tests.support.executing import ask_routes, follow, forget_inquiries, send_leg
from tests.support.layer_zero import MESSAGE_FEE, StargateEnd
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop, somebody

BASE, ETHEREUM = 8453, 1
USDC = tuple(token_registry.token("USDC", chain_id) for chain_id in (ETHEREUM, BASE))
FORWARDING = {"low": 190_000, "med": 200_000, "high": 210_000}
IRIS = "https://iris.test"
CIRCLE_SAYS = {
    f"{IRIS}/v2/burn/USDC/fees/{ends}?forward=true": [
        {"finalityThreshold": 1000, "minimumFee": 1, "forwardFee": FORWARDING},
        {"finalityThreshold": 2000, "minimumFee": 0, "forwardFee": FORWARDING},
    ]
    for ends in ("0/6", "6/0")
} | {f"{IRIS}/v2/fastBurn/USDC/allowance": {"allowance": 10**6}}


@dataclass(frozen=True)
class Lanes:
    """Two chains, and both bridges between them."""

    nets: Mapping[int, MainNet]
    here: StargateEnd
    there: StargateEnd

    def stargate(self) -> Market:
        """Return the lane to Base in the pool's present state."""
        pool = make_path(ETHEREUM, self.here.pool.address, "USDC", BASE)
        (path,) = run(read_paths((pool,), SOMEBODY), self.newest(ETHEREUM)).values()
        assert path.lane is not None, path.reason
        return path.lane

    def newest(self, chain_id: int) -> ChainResponder:
        rpc = self.nets[chain_id].rpc()
        return ChainClient(rpc).answer_at(rpc.read_head())


@pytest.fixture(scope="module")
def lanes() -> Iterator[Lanes]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        for net in (base, ethereum):
            deploy_circle(net)
        here, there = StargateEnd.deploy(ethereum), StargateEnd.deploy(base)
        terms = FeeTerms(10**10, 10**11, 0, 600, 3_000, 0)
        here.join(there, terms, 10**11)
        there.join(here, terms, 10**11)
        yield Lanes({BASE: base, ETHEREUM: ethereum}, here, there)


@pytest.fixture
def circle() -> CctpAdapter:
    return CctpAdapter(ReplayClient(CIRCLE_SAYS), USDC, IRIS)


@pytest.fixture
def shop(
    lanes: Lanes, circle: CctpAdapter, tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    """A merchant on Base who may be paid over the one bridge that a test names."""
    offered = circle.parse(circle.fetch()).markets if request.param == "cctp" else (lanes.stargate(),)
    firm = FirmQuoter([circle, StargateQuotes(lanes.newest)])
    with chain_shop(lanes.nets, tmp_path, request.node.name, databases.lend("sqlite"), offered, firm) as opened:
        yield opened


@pytest.mark.parametrize("shop", ["cctp"], indirect=True)
@pytest.mark.parametrize("fee", [200_121, 210_122])
def test_a_forwarded_burn_brings_at_least_the_price(shop: ChainShop, lanes: Lanes, fee: int) -> None:
    """The fee is at most what the quote says; what Circle does not take of it arrives."""
    order_id, reference = shop.order()
    customer = shop.customer(ETHEREUM)
    quote = shop.quote(order_id, ETHEREUM, "USDC")
    assert int(quote["pay_amount"]) == PRICE + 210_122
    approve, pay = shop.transactions(order_id, quote, customer)
    (messenger,) = (row.get_address("token_messenger") for row in read_deployments("cctp", ETHEREUM))
    assert decode(["address", "uint256"], bytes.fromhex(approve["data"][10:])) == (messenger, PRICE + 210_122)
    burnt = customer.sign([approve, pay])
    _, finality, (amount, _, domain, _, caller, most, hook) = burn_of(lanes.nets[ETHEREUM].chain, burnt)
    assert (amount, domain, caller, most, finality) == (PRICE + 210_122, 6, bytes(32), 210_122, 1000)
    assert hook[32:] == reference
    shop.look()
    assert shop.outcome(order_id) == "processing/"
    minted = forward(lanes.nets[ETHEREUM], lanes.nets[BASE], burnt, fee)
    shop.look()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == ("success/" if fee == most else "success/overpaid")
    assert shop.balance(BASE) == PRICE + most - fee
    assert order["transaction_hash"] == burnt
    assert [row["hash"] for row in order["transactions"]] == [burnt, minted]


@pytest.mark.parametrize("shop", ["cctp"], indirect=True)
def test_equal_burns_of_one_customer_are_told_apart(shop: ChainShop, lanes: Lanes) -> None:
    customer, burns = shop.customer(ETHEREUM), {}
    for _ in range(2):
        order_id = shop.order()[0]
        quote = shop.quote(order_id, ETHEREUM, "USDC")
        burns[order_id] = customer.sign(shop.transactions(order_id, quote, customer))
    shop.look()
    first, second = burns
    forward(lanes.nets[ETHEREUM], lanes.nets[BASE], burns[second], 210_122)
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("processing/", "success/")


@pytest.mark.parametrize("shop", ["cctp"], indirect=True)
def test_a_mint_that_is_seen_before_its_burn_is_attributed_later(shop: ChainShop, lanes: Lanes) -> None:
    """Base is read before Ethereum, and both transactions are there at the first look."""
    order_id = shop.order()[0]
    customer = shop.customer(ETHEREUM)
    quote = shop.quote(order_id, ETHEREUM, "USDC")
    burnt = customer.sign(shop.transactions(order_id, quote, customer))
    forward(lanes.nets[ETHEREUM], lanes.nets[BASE], burnt, 210_122)
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    assert (shop.unmatched(), shop.shop.order(order_id)["transaction_hash"]) == ([], burnt)


@pytest.mark.parametrize("shop", ["stargate"], indirect=True)
def test_a_stargate_send_brings_at_least_the_price(shop: ChainShop, lanes: Lanes) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(ETHEREUM)
    quote = shop.quote(order_id, ETHEREUM, "USDC")
    approve, pay = shop.transactions(order_id, quote, customer)
    spender, allowed = decode(["address", "uint256"], bytes.fromhex(approve["data"][10:]))
    assert (spender, allowed) == (lanes.here.pool.address, int(quote["pay_amount"]))
    assert (int(pay["value"], 16), pay["data"][-32:]) == (MESSAGE_FEE, reference.hex())
    sent = customer.sign([approve, pay])
    shop.look()
    assert shop.outcome(order_id) == "processing/"
    received = lanes.there.deliver(lanes.here, sent)
    shop.look()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE, "the least input for the price, on a pool that takes its fee in whole units"
    assert order["transaction_hash"] == sent
    assert [row["hash"] for row in order["transactions"]] == [sent, received]
    assert lanes.nets[ETHEREUM].tokens["USDC"]("allowance", customer.address, spender) == 0


@pytest.mark.parametrize("shop", ["stargate"], indirect=True)
def test_a_pool_that_became_dearer_leads_to_a_new_quote(shop: ChainShop, lanes: Lanes) -> None:
    order_id = shop.order()[0]
    customer = shop.customer(ETHEREUM)
    quote = shop.quote(order_id, ETHEREUM, "USDC")
    before = lanes.nets[ETHEREUM].chain.rpc("evm_snapshot")
    lanes.here.fees("setFeeConfig", lanes.there.eid, 10**10, 10**11, 10_000, 20_000, 30_000, 0)
    body = {"quote_id": quote["quote_id"], "payer": customer.address}
    answer = shop.shop.client.post(f"/payment/{order_id}/transactions", json=body)
    assert (answer.status_code, answer.get_json()["reason"]) == (409, "quote_expired")
    lanes.nets[ETHEREUM].chain.rpc("evm_revert", before)


OVER = (ETHEREUM, "USDC"), (BASE, "USDC")


@pytest.mark.parametrize("shop", ["cctp"], indirect=True)
def test_two_equal_burns_of_routes_are_followed_each_to_its_own_mint(shop: ChainShop, lanes: Lanes) -> None:
    payer, recipient = shop.customer(ETHEREUM), somebody("recipient of burns")
    burns = []
    asked = {"inputAmount": "50000000", "allowProtocols": ["cctp_fast_forwarded"]}
    for _ in range(2):
        (leg,) = ask_routes(shop, OVER, payer.address, recipient, **asked)["legs"]
        burns.append(send_leg(payer, leg))
        shop.pass_time(2)
        forget_inquiries(shop)
    minted = forward(lanes.nets[ETHEREUM], lanes.nets[BASE], burns[1], 210_000)
    first, second = (follow(shop, ETHEREUM, tx_hash) for tx_hash in burns)
    assert (first["status"], first["deliveries"][0]["status"]) == ("bridging", "waiting")
    assert (second["status"], second["deliveries"][0]["transactionHash"]) == ("delivered", minted)
    assert int(second["deliveries"][0]["outputAmount"]) >= int(leg["outputAmountMin"])
    assert shop.nets[BASE].balance(recipient, "USDC") == int(second["deliveries"][0]["outputAmount"])


@pytest.mark.parametrize("shop", ["stargate"], indirect=True)
def test_a_send_of_a_route_is_followed_to_its_delivery(shop: ChainShop, lanes: Lanes) -> None:
    payer, recipient = shop.customer(ETHEREUM), somebody("recipient of sends")
    (leg,) = ask_routes(shop, OVER, payer.address, recipient, inputAmount="50000000", maxSplits=1)["legs"]
    sent = send_leg(payer, leg)
    received = lanes.there.deliver(lanes.here, sent)
    seen = follow(shop, ETHEREUM, sent)
    (delivery,) = seen["deliveries"]
    assert (seen["status"], delivery["bridge"], delivery["transactionHash"]) == ("delivered", "stargate", received)
    assert shop.nets[BASE].balance(recipient, "USDC") == int(delivery["outputAmount"]) >= int(leg["outputAmountMin"])
