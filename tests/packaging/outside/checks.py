"""A bridge and an exchange that nothing in the tree knows: quoted, payable, credited; read from a chain."""

from __future__ import annotations

from typing import Any

from eth_abi import encode

from adapters.bridges.events import find_event_readers
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.protocol import find_protocols
from adapters.chain.tokens import ChainTokens
from adapters.dexes import uniswap_v2
from adapters.feed.connect import connect
from adapters.feed.feed import Feed
from adapters.feed.plan import Plan
from adapters.rpc.endpoint_pool import RpcPool
from adapters.testing import ReplayClient
from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.decoding import decode_payment, find_intermediaries
from adapters.transactions.intermediaries import UNISWAP_V2
from adapters.transactions.payment_builders import PaymentBuilders, append_reference
from api.domain.transfers import TransferKind
from api.domain.watched import Watched
from api.services.checkout.payable_routes import find_payable
from api.services.ledger.chain_reader import ChainReader
from api.services.ledger.evidence.listed_contracts import ListedContracts
from api.services.ledger.transfers import TRANSFER_TOPIC
from routing_engine import Router
from routing_engine.reference import token_registry
from tests.api.settlement.test_chain_ledger import NOW, Node
from tests.support.nodes import Network
from tests.support.scripts import Script, address

URL, CONTRACT = "https://api.pony.example", "0x" + "90" * 20
SHOP, PAYER, REFERENCE = "0x" + "12" * 20, "0x" + "34" * 20, bytes(range(16))
PLAN = Plan(adapters=("pony",))
TOKENS = tuple(token_registry.token("USDC", chain_id) for chain_id in (1, 8453))
ROW: dict[str, Any] = {
    "from": TOKENS[0].address,
    "fromChain": 1,
    "to": TOKENS[1].address,
    "toChain": 8453,
    "feeBps": "2.5",
    "gas": "40000",
    "least": "1000000",
    "most": "5000000000000",
    "seconds": 12,
}


class Service(ReplayClient):
    """Confirms whatever it is asked for."""

    def get(self, url: str, params: Any = None) -> Any:
        return ROW | {"ticket": "0xabcd"} if url == f"{URL}/firm" else [ROW]


def test_it_is_quoted_paid_and_credited() -> None:
    service = Service({})
    state = Feed(connect(PLAN, service)).read_all()
    builders = PaymentBuilders.load()
    payable = find_payable(Router(state.snapshot), builders, *TOKENS, 1_000_000_000)
    assert payable is not None
    (planned,) = payable.hops

    firm = FirmQuoter.from_plan(PLAN, service).confirm(planned.hop, sender=PAYER, recipient=SHOP)
    terms = Terms(
        payer=PAYER,
        recipient=SHOP,
        amount_in_max=firm.hop.amount_in,
        amount_out=firm.hop.amount_out,
        deadline=0,
        reference=REFERENCE,
        firm=firm.terms,
    )
    call = append_reference(builders.build((PlannedHop(hop=firm.hop),), TOKENS[0], terms), REFERENCE)
    assert (call.chain_id, call.to) == (1, CONTRACT)
    assert call.spending is not None
    assert call.spending.amount == firm.hop.amount_in

    decoded = decode_payment(1, call.to, call.data)
    assert decoded is not None
    assert (decoded.is_deposit, decoded.amount, decoded.recipient) == (True, firm.hop.amount_in, SHOP)
    assert decoded.reference == REFERENCE

    (transfer,) = (
        ChainReader(pool_of(delivering(firm.hop.amount_out)), find_event_readers(8453))
        .read(1, 3, Watched.at([SHOP]))
        .transfers
    )
    assert (transfer.kind, transfer.amount, transfer.recipient) == (TransferKind.PAYMENT, firm.hop.amount_out, SHOP)
    assert transfer.bridge_id == f"pony:{topic_of(PAYER)}", "it answers the deposit of this name"


def test_its_contract_is_nobodys_wallet() -> None:
    assert CONTRACT in ListedContracts(pool_of(Node())).among([])


def test_the_exchange_is_read_by_the_adapter_of_chains() -> None:
    tokens = token_registry.token("WETH", 8453), TOKENS[1]
    pair = address(0xA1)
    script = Script(*tokens, chain_id=8453)
    factory = "0x" + "ab" * 20
    script.on(uniswap_v2.GET_PAIR(factory, *(each.address for each in tokens)), pair)
    script.on(uniswap_v2.GET_RESERVES(pair), 10**18, 3_500 * 10**6)
    found = [each for each in find_protocols(8453) if each.name == "pony_swap"]
    rpc = RpcPool(8453, ["https://node/"], client=Network(node=script), clock=lambda: script.timestamp)
    adapter = OnChainAdapter(rpc, found, ChainTokens(tokens))
    (market,) = adapter.parse(adapter.fetch()).markets
    assert (market.id, market.protocol) == (f"8453:{pair}", "pony_swap")


def test_the_exchange_is_offered_and_its_factory_vouches_for_pools() -> None:
    assert {"pony_swap"} in PaymentBuilders.load().list_families(8453, crosses_chains=False)
    assert ("0x" + "ab" * 20, UNISWAP_V2) in [
        (each.address, each.interface) for each in find_intermediaries(8453).factories
    ]
    assert "0x" + "cd" * 20 in ListedContracts(pool_of(Node())).among([])


def topic_of(wallet: str) -> str:
    return "0x" + "00" * 12 + wallet[2:]


def pool_of(node: Node) -> RpcPool:
    return RpcPool(8453, ["http://node"], client=node, finality_blocks=750, clock=lambda: NOW + 5.0)


def delivering(amount: int) -> Node:
    """A node with one transaction: Pony's contract sends the shop dollars, and then says which deposit they answer."""
    node = Node()
    moved = node.log() | {
        "topics": [TRANSFER_TOPIC, topic_of(CONTRACT), topic_of(SHOP)],
        "data": f"0x{amount:064x}",
    }
    data = encode(["address", "address", "uint256"], [TOKENS[1].address, SHOP, amount])
    (events,) = (bridge for bridge in find_event_readers(8453) if CONTRACT in bridge.contracts)
    told = node.log() | {
        "address": CONTRACT,
        "topics": [delivered_topic(events), topic_of(PAYER)],
        "data": "0x" + data.hex(),
        "logIndex": "0x5",
    }
    node.changes = {
        "eth_getLogs": lambda params, _: [moved] if params[0]["topics"][0] == TRANSFER_TOPIC else [told],
        "eth_getTransactionReceipt": lambda _, receipt: receipt | {"logs": [moved, told]},
        "eth_getBlockByNumber": lambda _, block: block and sent_by_a_relayer(block),
    }
    return node


def delivered_topic(events: Any) -> str:
    return str(events.DELIVERED)


def sent_by_a_relayer(block: dict[str, Any]) -> dict[str, Any]:
    return block | {"transactions": [each | {"to": CONTRACT, "input": "0x"} for each in block["transactions"]]}
