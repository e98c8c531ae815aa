"""Reading real chains: references in calldata, events of bridges, and nodes that lie or change their mind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from eth_abi import encode

from adapters.base import BadPayload
from adapters.bridges.across.events import AcrossEvents
from adapters.bridges.cctp.events import CctpEvents
from adapters.bridges.events import Delivery, Deposit, find_event_readers
from adapters.bridges.promise import Promise
from adapters.bridges.stargate.events import StargateEvents
from adapters.bridges.stargate.payments import SEND
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Log
from adapters.rpc.endpoint_pool import RpcPool
from api.domain.confirmations import count_finality_blocks
from api.domain.ledger import ChainUnavailable
from api.domain.transfers import Naming
from api.domain.watched import Watched
from api.services.ledger.chain_reader import ChainReader
from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic
from routing_engine.reference import token_registry
from tests.support.settlement import transfer_data

REFERENCE = bytes(range(16))
SHOP, PAYER = "0x" + "51" * 20, "0x" + "aa" * 20
TOKEN = token_registry.token("USDC", 8453).address
NOW = 1_760_000_000


def log(address: str, topics: tuple[str, ...], data: bytes) -> Log:
    return Log(address=address, topics=topics, data=data, block_number=1, block_hash="0x" + "00" * 32, index=0)


def word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def cctp(chain_id: int) -> CctpEvents:
    return next(bridge for bridge in find_event_readers(chain_id) if isinstance(bridge, CctpEvents))


MESSENGER = next(read_deployments("cctp", 1)).get_address("token_messenger")


BURNT = {domain: token_registry.token("USDC", chain_id).address for domain, chain_id in ((0, 1), (3, 42161))}
"""What is burnt on each of these domains."""


def mint(**changes: object) -> Log:
    """The message of a burn of 1,000 units on Ethereum, received."""
    told = {"domain": 0, "sender": word(MESSENGER), "amount": 1_000, "hook": b"hook" + REFERENCE} | changes
    token = str(told.get("token") or BURNT.get(int(str(told["domain"])), TOKEN))
    amount = int(str(told["amount"])).to_bytes(32)
    words = (word(token), word(SHOP), amount, word(PAYER), (30).to_bytes(32), (7).to_bytes(32), bytes(32))
    body = told.get("body", b"\0\0\0\1" + b"".join(words) + told["hook"])
    message = encode(["uint32", "bytes32", "bytes"], [told["domain"], told["sender"], body])
    return log("0xb", (CctpEvents.RECEIVED, make_topic(PAYER), "0x" + "01" * 32, "0x" + "00" * 32), message)


def burn(domain: int = 6) -> Log:
    burnt = encode(
        ["uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes"],
        [1_000, word(SHOP), domain, bytes(32), bytes(32), 30, b"hook" + REFERENCE],
    )
    return log("0xb", (CctpEvents.BURN, make_topic(BURNT[0]), make_topic(PAYER), "0x" + "00" * 32), burnt)


def test_a_burn_and_its_mint_have_the_same_name() -> None:
    deposit, delivery = cctp(1).read(burn()), cctp(8453).read(mint())
    assert isinstance(deposit, Deposit)
    assert isinstance(delivery, Delivery)
    assert deposit.bridge_id == delivery.bridge_id
    assert (deposit.amount, deposit.payer, delivery.recipient) == (1_000, PAYER, SHOP)
    coin = token_registry.token("USDC", 8453).address
    assert deposit.promise == Promise(chain_id=8453, token_address=coin, recipient=SHOP, amount=970)


OTHERS: dict[str, tuple[int, dict[str, object]]] = {
    "another amount": (8453, {"amount": 1_001}),
    "another hook": (8453, {"hook": b"hook" + REFERENCE[:-1] + b"x"}),
    "from another chain": (8453, {"domain": 3}),
    "to another chain": (10, {}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_message_has_another_name(name: str) -> None:
    chain_id, changes = OTHERS[name]
    deposit, delivery = cctp(1).read(burn()), cctp(chain_id).read(mint(**changes))
    assert isinstance(deposit, Deposit)
    assert isinstance(delivery, Delivery)
    assert deposit.bridge_id != delivery.bridge_id


FORGED: dict[str, dict[str, object]] = {
    "somebody else's message": {"sender": word(PAYER)},
    "an unknown chain's": {"domain": 99},
    "no burn": {"body": b"short"},
    "another token's": {"token": "0x" + "cd" * 20},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_message_that_the_messenger_did_not_send_is_nothing(name: str) -> None:
    assert cctp(8453).read(mint(**FORGED[name])) is None


def test_stargate_names_its_messages_and_its_call_says_for_whom() -> None:
    guid, pool = "0x" + "ab" * 32, "0x" + "55" * 20
    here, there = StargateEvents(1, {pool: "USDC"}), StargateEvents(8453, {pool: "USDC"})
    sent = here.read(
        log(
            pool,
            (StargateEvents.SENT, guid, make_topic(PAYER)),
            encode(["uint32", "uint256", "uint256"], [30184, 90, 89]),
        )
    )
    received = there.read(
        log(pool, (StargateEvents.RECEIVED, guid, make_topic(SHOP)), encode(["uint32", "uint256"], [1, 89]))
    )
    assert isinstance(sent, Deposit)
    assert isinstance(received, Delivery)
    assert (sent.bridge_id, sent.recipient, sent.promise) == (received.bridge_id, "", None)
    assert (received.token_address, received.recipient) == (TOKEN, SHOP)
    call = SEND(pool, (30184, word(SHOP), 90, 88, b"", b"", b""), (1, 0), PAYER).data
    whole = here.complete(sent, call + REFERENCE)
    promise = Promise(chain_id=8453, token_address=TOKEN, recipient=SHOP, amount=88)
    assert (whole.recipient, whole.promise) == (SHOP, promise)
    assert here.complete(sent, call[:-1]) == sent


@pytest.mark.parametrize("event", [AcrossEvents.DEPOSIT, AcrossEvents.FILL])
@pytest.mark.parametrize("topics", [1, 4])
def test_an_event_that_is_cut_off_is_refused(event: str, topics: int) -> None:
    cut = log(SHOP, (event, *("0x" + "00" * 32,) * 3)[:topics], b"\0" * 16)
    with pytest.raises(BadPayload, match="too few"):
        AcrossEvents(8453, SHOP).read(cut)


class Refusal(str):
    """What a node says instead of an answer."""


class Node:
    """A node with three blocks, the middle one with a payment; `changes` replace its answers."""

    def __init__(self, changes: Mapping[str, Any] | None = None) -> None:
        self.changes = dict(changes or {})
        self.requests: list[list[str]] = []
        self.tx_hash = "0x" + "77" * 32

    def get(self, url: str, params: object = None) -> Any:
        raise AssertionError(url)

    def post(self, url: str, body: Any) -> Any:
        asked = body if isinstance(body, list) else [body]
        self.requests.append([each["method"] for each in asked])
        told = [self.tell(each) for each in asked]
        return told if isinstance(body, list) else told[0]

    def tell(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.changes.get(body["method"], self.answer(body["method"], body["params"]))
        if callable(answer):
            answer = answer(body["params"], self.answer(body["method"], body["params"]))
        if isinstance(answer, Refusal):
            return {"id": body["id"], "error": {"code": -32602, "message": answer}}
        return {"id": body["id"], "result": answer}

    def answer(self, method: str, params: list[Any]) -> Any:
        if method == "eth_chainId":
            return hex(8453)
        if method == "eth_getBlockByNumber":
            tags = {"latest": 3, "finalized": 1}
            number = tags[params[0]] if params[0] in tags else int(params[0], 16)
            return self.block(number) if number <= 3 else None
        if method == "eth_getLogs":
            return [self.log()] if params[0]["topics"][0] == TRANSFER_TOPIC else []
        return {
            "transactionHash": self.tx_hash,
            "blockHash": self.hash(2),
            "status": "0x1",
            "logs": [self.log()],
        }

    def hash(self, number: int) -> str:
        return f"0x{number:064x}"

    def block(self, number: int) -> dict[str, Any]:
        sent = {
            "hash": self.tx_hash,
            "from": PAYER,
            "to": TOKEN,
            "value": "0x0",
            "input": "0x" + (transfer_data(SHOP, 5) + REFERENCE).hex(),
        }
        return {
            "number": hex(number),
            "hash": self.hash(number),
            "parentHash": self.hash(number - 1),
            "timestamp": hex(NOW + number),
            "logsBloom": "0x" + "00" * 256,
            "transactions": [sent] if number == 2 else [],
        }

    def log(self) -> dict[str, Any]:
        return {
            "address": TOKEN,
            "topics": [TRANSFER_TOPIC, make_topic(PAYER), make_topic(SHOP)],
            "data": f"0x{5:064x}",
            "blockNumber": "0x2",
            "blockHash": self.hash(2),
            "transactionHash": self.tx_hash,
            "logIndex": "0x4",
        }


def reader(node: Node) -> ChainReader:
    pool = RpcPool(
        8453, ["http://node"], client=node, finality_blocks=750, clock=lambda: NOW + 5.0, sleep=lambda seconds: None
    )
    return ChainReader(pool, find_event_readers(8453))


def test_a_payment_is_read_with_everything_about_it() -> None:
    asked = reader(Node())
    head = asked.read_head()
    (found,) = asked.read(1, 3, Watched.at([SHOP])).transfers
    assert (head.block.number, head.final_number) == (3, 1)
    assert (found.amount, found.sender, found.recipient, found.log_index) == (5, PAYER, SHOP, 0)
    assert (found.namings, found.block.number) == ((Naming(reference=REFERENCE, is_own=True, caller=found.sender),), 2)
    assert found.block.mined_at == datetime.fromtimestamp(NOW + 2, UTC)


def test_a_look_takes_one_request_for_the_head_one_for_what_moved_and_one_for_receipts() -> None:
    node = Node()
    asked = reader(node)
    asked.read_head()
    node.requests.clear()
    asked.read_head()
    assert asked.read_blocks([3])[3].hash == node.hash(3)
    assert len(asked.read(1, 3, Watched.at([SHOP])).transfers) == 1
    block, search, receipt = "eth_getBlockByNumber", "eth_getLogs", "eth_getTransactionReceipt"
    assert node.requests == [[block, block, block], [search, search, block, block, block], [receipt]]


def test_a_long_range_takes_its_blocks_in_portions_and_searches_once() -> None:
    node = Node({"eth_getLogs": [], "eth_getBlockByNumber": lambda params, _: node.block(int(params[0], 16))})
    ChainReader(RpcPool(8453, ["http://node"], client=node), find_event_readers(8453)).read(10, 34, Watched.at([SHOP]))
    sizes = [(requests.count("eth_getLogs"), requests.count("eth_getBlockByNumber")) for requests in node.requests[1:]]
    assert sizes == [(0, 1), (2, 20), (0, 5)]  # the last block comes first: the others have to end with it


@pytest.mark.parametrize("answer", [None, Refusal("unknown tag")])
def test_a_node_that_knows_no_finality_is_believed_at_a_depth(answer: object) -> None:
    def finalized(params: list[Any], block: Any) -> Any:
        return answer if params[0] == "finalized" else block

    head = reader(Node({"eth_getBlockByNumber": finalized})).read_head()
    assert head.final_number == 3 - count_finality_blocks(8453) == 3 - 750


def other_hash(params: list[Any], block: Any) -> Any:
    return {**block, "hash": "0x" + "ee" * 32} if params[1] and block["number"] == "0x2" else block


def other_receipt(params: list[Any], receipt: Any) -> Any:
    return {**receipt, "blockHash": "0x" + "ee" * 32, "logs": []}


LIES: dict[str, dict[str, Any]] = {
    "the block is on another fork than its logs": {"eth_getBlockByNumber": other_hash},
    "the receipt is on another fork": {"eth_getTransactionReceipt": other_receipt},
    "there is no receipt": {"eth_getTransactionReceipt": None},
    "another transaction's receipt": {
        "eth_getTransactionReceipt": lambda params, receipt: {**receipt, "transactionHash": "0x" + "00" * 32}
    },
    "logs are no list": {"eth_getLogs": {}},
    "logs are refused": {"eth_getLogs": Refusal("too many")},
}


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_fit_together_is_not_believed(lie: str) -> None:
    asked = reader(Node(LIES[lie]))
    asked.read_head()
    with pytest.raises(ChainUnavailable):
        asked.read(1, 3, Watched.at([SHOP]))


def test_a_failed_transaction_moves_nothing_whatever_the_logs_say() -> None:
    asked = reader(Node({"eth_getTransactionReceipt": lambda params, receipt: {**receipt, "status": "0x0"}}))
    asked.read_head()
    assert asked.read(1, 3, Watched.at([SHOP])).transfers == ()
