"""What a chain's reader finds out about single transactions, with and without a node that traces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi import encode
from eth_account.signers.local import LocalAccount
from eth_keys import keys
from eth_utils import keccak

from adapters.bridges.events import find_event_readers
from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from api.domain.transfers import Transfer
from api.domain.watched import Watched
from api.services.ledger.chain_reader import ChainReader
from tests.support.chain import Chain
from tests.support.evm import Contract
from tests.support.main_net import MainNet
from tests.support.settlement import Wallet, somebody
from tests.support.vyper_source import compiled

RICH = 10**12
"""A million dollars of USDC."""
MAX = 2**256 - 1
MINE, THEIRS = b"reference of one", b"reference of two"
Call = tuple[str, int, bytes]
PERMIT = keccak(text="Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)")


@dataclass
class Meddling(JsonClient):
    """A node that does not trace, or whose traces somebody changes on the way."""

    refuses: bool = False
    change: Any = None

    def __post_init__(self) -> None:
        super().__init__(limits=RPC_LIMITS)
        self.traced = 0

    def post(self, url: str, body: Any) -> Any:
        is_trace = isinstance(body, dict) and body["method"] == "debug_traceTransaction"
        self.traced += is_trace
        if is_trace and self.refuses:
            return {"id": body["id"], "error": {"code": -32601, "message": "the method does not exist"}}
        answer = super().post(url, body)
        if is_trace and self.change is not None:
            self.change(answer["result"])
        return answer


def reader_of(net: MainNet, client: JsonClient | None = None) -> ChainReader:
    """Return a reader of a chain."""
    asked = client or Meddling()
    rpc = RpcPool(net.chain.chain_id, [net.chain.url], client=asked, finality_blocks=750, clock=net.chain.now)
    return ChainReader(rpc, find_event_readers(net.chain.chain_id))


def found_in(
    net: MainNet, tx_hash: str, recipients: Collection[str], client: JsonClient | None = None
) -> list[Transfer]:
    """Return what the reader finds in a transaction, which must have succeeded."""
    receipt = net.chain.rpc("eth_getTransactionReceipt", tx_hash)
    assert receipt["status"] == "0x1"
    number = int(receipt["blockNumber"], 16)
    transfers = reader_of(net, client).read(number, number, Watched.at(recipients)).transfers
    return [each for each in transfers if each.tx_hash == tx_hash]


def own(transfer: Transfer) -> tuple[bytes, ...]:
    """Return what the owner of the money named."""
    return tuple(naming.reference for naming in transfer.namings if naming.is_own)


def data_of(contract: Contract, name: str, *arguments: object) -> bytes:
    """Return a call's calldata."""
    function = contract.functions[name]
    return function.selector + encode(function.inputs, arguments)


def customer_of(net: MainNet, name: str, **funds: int) -> Wallet:
    """Return somebody with gas money and a million USDC, unless told otherwise."""
    wallet = Wallet(net.chain, somebody(name))
    net.fund(wallet.address, "ETH", 10**21)
    for symbol, amount in ({"USDC": RICH} | funds).items():
        net.fund(wallet.address, symbol, amount)
    return wallet


def runner_on(chain: Chain) -> Contract:
    """Deploy a contract that makes any calls; see ``runner.vy``."""
    return chain.deploy(compiled("runner"))


def run(runner: Contract, calls: Sequence[Call], name: str = "run") -> bytes:
    """Return the calldata that lets it make these calls."""
    return data_of(runner, name, list(calls))


def approve(wallet: Wallet, token: Contract, spender: str) -> None:
    """Let somebody take all."""
    wallet.send(token.address, data_of(token, "approve", spender, MAX))


def permit_of(token: Contract, owner: LocalAccount, spender: str, amount: int) -> bytes:
    """Return the calldata by which somebody's signature lets somebody take an amount (ERC-2612)."""
    types = ["bytes32", "address", "address", "uint256", "uint256", "uint256"]
    terms = encode(types, [PERMIT, owner.address, spender, amount, token("nonces", owner.address), 2**255])
    digest = keccak(b"\x19\x01" + token("DOMAIN_SEPARATOR") + keccak(terms))
    signed = keys.PrivateKey(owner.key).sign_msg_hash(digest)
    return data_of(
        token, "permit", owner.address, spender, amount, 2**255,
        signed.v + 27, signed.r.to_bytes(32), signed.s.to_bytes(32),
    )  # fmt: skip


def by_recipient(transfers: Sequence[Transfer]) -> Mapping[tuple[str, int], Transfer]:
    """Return transfers by token and amount."""
    return {(each.token_address, each.amount): each for each in transfers}
