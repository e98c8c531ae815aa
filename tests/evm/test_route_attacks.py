"""Who asks for routes, or answers for a chain, takes nobody's money and learns nothing that is not his."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode
from eth_utils import keccak

from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess
from routing_engine.markets.bridges import across_lane
from routing_engine.reference import token_registry
from tests.support.across import Relayers
from tests.support.databases import Databases
from tests.support.evm import ACTOR
from tests.support.executing import ask_routes, follow, send_leg
from tests.support.lying_rpc import Lie, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import ChainShop, Wallet, chain_shop, somebody

BASE, ETHEREUM = 8453, 1
SECRET = "k3y-of-the-operator"
ENDS = (BASE, "WETH"), (BASE, "USDC")
OVER = (ETHEREUM, "USDC"), (BASE, "USDC")
AMOUNT = 10**17


@pytest.fixture
def shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    lane = across_lane(
        token_registry.token("USDC", ETHEREUM), token_registry.token("USDC", BASE), capital_fee_e18=10**14,
        lp_fee_e18=0, relayer_gas_fee=10_000, min_deposit=1, max_deposit=10**15, fill_time_s=4,
    )  # fmt: skip
    with nets[BASE].chain.undone():
        nets[BASE].pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        markets = (*nets[BASE].markets(), lane)
        relayers = Relayers(lane, nets[ETHEREUM])
        with chain_shop(nets, tmp_path, request.node.name, databases.lend("sqlite"), markets, relayers) as opened:
            yield opened


@pytest.fixture
def through(shop: ChainShop) -> Iterator[Callable[..., None]]:
    """Let the service ask chains through endpoints that lie."""
    with ExitStack() as stack:

        def lie(*lies: Lie) -> None:
            access = shop.shop.resources.chain_access[EnvMode.TEST]
            chains = {}
            for chain_id, net in shop.nets.items():
                liar = stack.enter_context(lying_rpc(net.chain.url, *lies))
                pool = make_pool(net, f"{liar.url}/{SECRET}", JsonClient(limits=RPC_LIMITS))
                chains[chain_id] = PaymentChain(pool)
            made = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=access.firm)
            real = replace(shop.shop.resources, chain_access={EnvMode.TEST: made})
            attach_resources(shop.shop.client.application, real)

        yield lie


def make_pool(net: MainNet, url: str, client: JsonClient) -> RpcPool:
    return RpcPool(
        net.chain.chain_id, [url], client=client, finality_blocks=750, clock=net.chain.now, sleep=lambda _: None
    )


def test_nobody_gets_what_was_built_for_another_wallet(shop: ChainShop) -> None:
    """The same question at the same moment, but for who pays and who receives."""
    people = [shop.customer(BASE, f"payer {number}", WETH=AMOUNT).address for number in range(2)]
    pairs = [(payer, recipient) for payer in people for recipient in (people[0], people[1], somebody("thief"))]

    def ask(pair: tuple[str, str]) -> dict[str, Any]:
        return ask_routes(shop, ENDS, *pair, inputAmount=str(AMOUNT), maxSplits=1)["legs"][0]

    with ThreadPoolExecutor(2) as threads:
        legs = list(threads.map(ask, pairs * 2))
    others = {*people, somebody("thief")}
    assert [leg["status"] for leg in legs].count("ready") >= len(pairs)
    for (payer, recipient), leg in zip(pairs * 2, legs, strict=True):
        assert (leg["sender"].lower(), leg["recipient"].lower()) == (payer, recipient)
        for each in leg["transactions"]:
            assert each["from"].lower() == payer
            named = {address for address in others if address[2:] in each["data"]}
            assert named == ({recipient} if each["purpose"] == "pay" else set())


def test_calldata_spends_nobodys_money_but_its_signers(shop: ChainShop) -> None:
    """A thief signs what was built for his victim, who has given the router an allowance."""
    victim, thief = shop.customer(BASE, "victim", WETH=AMOUNT), shop.customer(BASE, "thief")
    leg = ask_routes(shop, ENDS, victim.address, thief.address, inputAmount=str(AMOUNT), maxSplits=1)["legs"][0]
    approve, pay = leg["transactions"]
    victim.send(approve["to"], bytes.fromhex(approve["data"][2:]))
    held = shop.nets[BASE].balance(victim.address, "WETH")
    tx_hash = thief.send(pay["to"], bytes.fromhex(pay["data"][2:]), gas=pay["gasLimit"])
    assert shop.nets[BASE].chain.rpc("eth_getTransactionReceipt", tx_hash)["status"] == "0x0"
    assert shop.nets[BASE].balance(victim.address, "WETH") == held
    seen = ask_routes(shop, ENDS, thief.address, thief.address, inputAmount=str(AMOUNT), maxSplits=1)["legs"][0]
    assert seen["status"] == "balance_too_low", "another's allowance is no balance"


def test_no_endpoint_is_told_whatever_it_says(shop: ChainShop, through: Callable[..., None]) -> None:
    payer = shop.customer(BASE, WETH=AMOUNT)
    tx_hash = payer.send(somebody("x"), value=1)

    def complain(method: str, params: list[Any], answer: Any) -> Any:
        if method == "eth_simulateV1":
            said = f"https://rpc.example/{SECRET} is out of credit"
            return [{"calls": [{"status": "0x0", "returnData": "0x", "error": {"code": 3, "message": said}}] * 2}]
        return answer

    def garble(method: str, params: list[Any], answer: Any) -> Any:
        return f"https://rpc.example/{SECRET}" if method != "eth_chainId" else answer

    for lie in (complain, garble):
        through(lie)
        route = ask_routes(shop, ENDS, payer.address, payer.address, inputAmount=str(AMOUNT), maxSplits=1)
        assert route["legs"][0]["transactions"] == []
        told = f"{route} {follow(shop, BASE, tx_hash)}"
        assert "127.0.0.1" not in told
        assert SECRET not in told


@pytest.mark.parametrize("field", ["blockHash", "blockNumber", "transactionHash", "status", "logs"])
def test_a_receipt_that_does_not_fit_is_not_believed(shop: ChainShop, through: Callable[..., None], field: str) -> None:
    payer = shop.customer(BASE)
    tx_hash = payer.send(somebody("x"), value=1)
    wrong = {"blockHash": "0x" + "99" * 32, "blockNumber": "0x1", "transactionHash": "0x" + "98" * 32}

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        return answer | {field: wrong.get(field)} if method == "eth_getTransactionReceipt" else answer

    through(lie)
    assert follow(shop, BASE, tx_hash)["status"] == "unknown"


def test_another_transaction_in_the_place_of_the_one_asked_for_is_not_believed(
    shop: ChainShop, through: Callable[..., None]
) -> None:
    payer = shop.customer(BASE)
    one, other = payer.send(somebody("x"), value=1), payer.send(somebody("x"), value=2)
    record = shop.nets[BASE].chain.rpc("eth_getTransactionByHash", other)
    through(lambda method, params, answer: record if method == "eth_getTransactionByHash" else answer)
    assert follow(shop, BASE, one)["status"] == "unknown"


def test_an_event_of_a_contract_that_is_no_bridge_is_no_deposit(shop: ChainShop) -> None:
    payer = shop.customer(ETHEREUM)
    topic = keccak(
        text="FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,bytes32,bytes32,"
        "bytes32,bytes)"
    )
    words = b"".join(b"\x7f" + each for each in (bytes(32), bytes(32), BASE.to_bytes(32), topic))
    fake = somebody("fake bridge")
    shop.nets[ETHEREUM].chain.set_code(fake, words + bytes.fromhex("6101a05fa400"))
    seen = follow(shop, ETHEREUM, payer.send(fake))
    assert (seen["status"], seen["deliveries"]) == ("mined", [])


def test_a_fill_of_something_else_is_no_delivery(shop: ChainShop) -> None:
    """Anybody may fill a relay that nobody deposited: here under the deposit's own number, with a unit."""
    payer = shop.customer(ETHEREUM)
    recipient = somebody("recipient")
    leg = ask_routes(shop, OVER, payer.address, recipient, inputAmount="50000000")["legs"][0]
    tx_hash = send_leg(payer, leg)
    origin, destination = shop.nets[ETHEREUM], shop.nets[BASE]
    receipt = origin.chain.rpc("eth_getTransactionReceipt", tx_hash)
    (log,) = (row for row in receipt["logs"] if row["address"] == origin.spoke_pool.address and len(row["topics"]) == 4)
    ends = [bytes(12) + bytes.fromhex(each[2:]) for each in (payer.address, recipient)]
    tokens = [bytes(12) + bytes.fromhex(shop.token(chain_id)[2:]) for chain_id in (ETHEREUM, BASE)]
    deposit_id, deadline = int(log["topics"][2], 16), int(destination.chain.now()) + 20_000
    relay = (*ends, bytes(32), *tokens, 50_000_000, 1, ETHEREUM, deposit_id, deadline, 0, b"")
    fill = destination.spoke_pool.functions["fillRelay"]
    data = fill.selector + encode(fill.inputs, (relay, ETHEREUM, bytes(12) + bytes.fromhex(ACTOR[2:])))
    filled = Wallet(destination.chain, ACTOR).send(destination.spoke_pool.address, data)
    assert destination.chain.rpc("eth_getTransactionReceipt", filled)["status"] == "0x1"
    seen = follow(shop, ETHEREUM, tx_hash)
    assert (seen["status"], seen["deliveries"][0]["status"]) == ("bridging", "waiting")


def test_a_node_that_tries_one_transaction_at_a_time_gets_nothing_untried_offered(
    shop: ChainShop, through: Callable[..., None]
) -> None:
    payer = shop.customer(BASE, WETH=AMOUNT)
    through()
    forbid(shop)
    leg = ask_routes(shop, ENDS, payer.address, payer.address, inputAmount=str(AMOUNT), maxSplits=1)["legs"][0]
    assert (leg["status"], [each["purpose"] for each in leg["transactions"]]) == ("approve_first", ["approve"])
    send_leg(payer, {**leg, "status": "ready"})
    forbid(shop)
    leg = ask_routes(shop, ENDS, payer.address, payer.address, inputAmount=str(AMOUNT), maxSplits=1)["legs"][0]
    assert [each["purpose"] for each in leg["transactions"]] == ["pay"]
    send_leg(payer, leg)
    assert shop.nets[BASE].balance(payer.address, "WETH") == 0


def forbid(shop: ChainShop) -> None:
    """Take ``eth_simulateV1`` away from the nodes, and let the answers of a moment ago be forgotten."""
    resources = shop.shop.client.application.extensions["checkout"]
    access = resources.chain_access[EnvMode.TEST]
    client = WithoutBatches(limits=RPC_LIMITS)
    chains = {chain_id: PaymentChain(make_pool(net, net.chain.url, client)) for chain_id, net in shop.nets.items()}
    made = ChainAccess(chains=chains, builders=access.builders, firm=access.firm)
    attach_resources(shop.shop.client.application, replace(resources, chain_access={EnvMode.TEST: made}))


class WithoutBatches(JsonClient):
    """A node that does not know ``eth_simulateV1``."""

    def post(self, url: str, body: object) -> Any:
        if isinstance(body, dict) and body["method"] == "eth_simulateV1":
            error = {"code": -32601, "message": "the method eth_simulateV1 does not exist/is not available"}
            return {"jsonrpc": "2.0", "id": body["id"], "error": error}
        return super().post(url, body)
