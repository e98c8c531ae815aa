"""An endpoint that stands before a real node and lies: it changes answers, lags behind, or hangs."""

from __future__ import annotations

import copy
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic
from tests.support.node_connection import NodeConnection
from tests.support.settlement import transfer_data

Lie = Callable[[str, list[Any], Any], Any]
"""Takes a method, its parameters and the true answer, and gives what is answered instead."""
LOOK_S = 0.02
"""How often the endpoint looks whether it is to end."""


@dataclass
class LyingRpc:
    """What an endpoint does wrong; a test changes it as it goes on.

    `lag` is how many blocks it is behind; `hangs` keeps every question without an answer until the end; with `refuses`
    each is answered with a fault of the server. Of events it gives `most_logs` at once, as most providers have a limit.
    `asked` are the methods of each request.
    """

    node: str
    url: str = ""
    lies: list[Lie] = field(default_factory=list)
    lag: int = 0
    hangs: bool = False
    refuses: bool = False
    most_logs: int = sys.maxsize
    asked: list[list[str]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._connection = NodeConnection(self.node)

    def answer(self, body: Any) -> Any:
        """Answer a request or a batch."""
        questions = body if isinstance(body, list) else [body]
        self.asked.append([each["method"] for each in questions])
        if self.hangs:
            self.ended.wait(60)
        newest = self._newest() - self.lag if self.lag else 0
        told = [self._told(each, newest) for each in self._forward_all(questions, newest)]
        return told if isinstance(body, list) else told[0]

    def _newest(self) -> int:
        question = {"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []}
        return int(self._forward([question])[0]["result"], 16)

    def _forward_all(self, questions: list[dict[str, Any]], newest: int) -> list[tuple[dict[str, Any], Any]]:
        late = {"latest": hex(newest), "finalized": hex(max(0, newest - 64))}
        asked = copy.deepcopy(questions)
        for each in asked:
            if self.lag and each["method"] == "eth_getBlockByNumber":
                each["params"][0] = late.get(each["params"][0], each["params"][0])
        by_id = {each["id"]: each for each in self._forward(asked)}
        return [(each, by_id[each["id"]]) for each in asked]

    def _told(self, pair: tuple[dict[str, Any], Any], newest: int) -> Any:
        question, answer = pair
        if "result" not in answer:
            return answer
        result = answer["result"]
        if self.lag:
            result = _before(question, result, newest)
        if question["method"] == "eth_getLogs" and len(result) > self.most_logs:
            refusal = {"code": -32005, "message": f"query returned more than {self.most_logs} results"}
            return {"jsonrpc": "2.0", "id": question["id"], "error": refusal}
        for lie in self.lies:
            result = lie(question["method"], question["params"], copy.deepcopy(result))
        return {**answer, "result": result}

    def _forward(self, questions: list[dict[str, Any]]) -> Any:
        return self._connection.ask(questions)


def _before(question: dict[str, Any], result: Any, newest: int) -> Any:
    """Return what a node knew at an earlier block."""
    if isinstance(result, list):
        return [each for each in result if int(each.get("blockNumber", "0x0"), 16) <= newest]
    if isinstance(result, dict):
        number = result.get("number" if question["method"].startswith("eth_getBlockBy") else "blockNumber")
        return None if number is not None and int(number, 16) > newest else result
    return result


@contextmanager
def lying_rpc(node: str, *lies: Lie) -> Iterator[LyingRpc]:
    """Run an endpoint on loopback that tells these lies about a node."""
    made = LyingRpc(node, lies=list(lies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a body would wait 40 ms until its head is acknowledged

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = json.dumps(made.answer(body)).encode()
            try:
                self.send_response(503 if made.refuses else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)
            except OSError:
                self.close_connection = True  # who asked did not wait that long

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(LOOK_S,), daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield made
    finally:
        made.ended.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


def hide_logs(method: str, params: list[Any], answer: Any) -> Any:
    """Answer that there are no events."""
    return [] if method == "eth_getLogs" else answer


def hide_calls(address: str) -> Lie:
    """Leave transactions that name an address out of their blocks."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and params[1]:
            kept = [each for each in answer["transactions"] if address[2:] not in each["input"]]
            return {**answer, "transactions": kept}
        return answer

    return lie


def hide_first_log(method: str, params: list[Any], answer: Any) -> Any:
    """Leave one event out, of the transfers to certain addresses."""
    is_transfer = method == "eth_getLogs" and params[0]["topics"][0] == TRANSFER_TOPIC
    return answer[1:] if is_transfer else answer


@dataclass(frozen=True)
class Invention:
    """A transaction that never was, put into a real block: a token is transferred to a shop.

    With `is_thorough` the block that is told fits it: its bloom has every bit, and its roots are made up too.
    """

    block_number: int
    token: str
    sender: str
    recipient: str
    amount: int
    reference: bytes = b""
    is_thorough: bool = False
    tx_hash: str = "0x" + "1e" * 32

    def __call__(self, method: str, params: list[Any], answer: Any) -> Any:
        """Tell the lie."""
        number = hex(self.block_number)
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and answer["number"] == number:
            return self._with_block(answer, is_full=params[1])
        if method == "eth_getTransactionByHash" and params == [self.tx_hash]:
            return self.record
        if method == "eth_getTransactionReceipt" and params == [self.tx_hash]:
            return self.receipt(_hashes[number])
        if method == "eth_getBlockReceipts" and params == [number]:
            return [*answer, self.receipt(_hashes[number])]
        if method == "eth_getLogs" and params[0]["topics"][0] == TRANSFER_TOPIC:
            first, last = (int(params[0][end], 16) for end in ("fromBlock", "toBlock"))
            if first <= self.block_number <= last and make_topic(self.recipient) in params[0]["topics"][2]:
                return [*answer, self.log(_hashes.get(number, "0x" + "00" * 32))]
        return answer

    def _with_block(self, answer: dict[str, Any], *, is_full: bool) -> dict[str, Any]:
        _hashes[answer["number"]] = answer["hash"]
        listed = {**self.record, "blockHash": answer["hash"]} if is_full else self.tx_hash
        thorough = {"logsBloom": "0x" + "ff" * 256, "receiptsRoot": "0x" + "5c" * 32} if self.is_thorough else {}
        return {**answer, **thorough, "transactions": [*answer["transactions"], listed]}

    @property
    def record(self) -> dict[str, Any]:
        """The transaction."""
        data = transfer_data(self.recipient, self.amount) + self.reference
        call = {"from": self.sender, "to": self.token, "value": "0x0", "input": "0x" + data.hex()}
        signature = {"v": "0x1b", "r": "0x1", "s": "0x1"}
        return {
            "hash": self.tx_hash,
            "type": "0x0",
            "nonce": "0x0",
            "gas": "0xffff",
            "gasPrice": "0x1",
            **call,
            **signature,
        }

    def log(self, block_hash: str) -> dict[str, Any]:
        """Return its event."""
        return {
            "address": self.token,
            "topics": [TRANSFER_TOPIC, make_topic(self.sender), make_topic(self.recipient)],
            "data": f"0x{self.amount:064x}",
            "blockNumber": hex(self.block_number),
            "blockHash": block_hash,
            "transactionHash": self.tx_hash,
            "logIndex": "0x3e7",
        }

    def receipt(self, block_hash: str) -> dict[str, Any]:
        """Return its receipt."""
        place = {"blockNumber": hex(self.block_number), "blockHash": block_hash, "transactionHash": self.tx_hash}
        outcome = {"type": "0x0", "status": "0x1", "cumulativeGasUsed": "0xffff", "logs": [self.log(block_hash)]}
        return {**place, **outcome}


_hashes: dict[str, str] = {}
"""Hashes of blocks by number, as the last node told them."""


def relabel(tx_hash: str, reference: bytes, size: int = 138) -> Lie:
    """Put another reference behind the calldata of a real transaction; before it are `size` characters, 0x included."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method == "eth_getTransactionByHash" and params == [tx_hash] and answer:
            return {**answer, "input": answer["input"][:size] + reference.hex()}
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and params[1]:
            for each in answer["transactions"]:
                if each["hash"] == tx_hash:
                    each["input"] = each["input"][:size] + reference.hex()
        return answer

    return lie
