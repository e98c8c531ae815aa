"""Stargate v2: what its pools' events say of sends and of what arrived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from adapters.bridges.events import BridgeEvent, Delivery, Deposit, hash_signature, read_number, read_topic
from adapters.bridges.promise import Promise
from adapters.bridges.stargate.payments import SEND
from adapters.bridges.stargate.protocol import ORDER, get_endpoint_id
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function, Log
from adapters.transactions.decoded import read_address
from routing_engine.fixed_point import rescale
from routing_engine.reference import token_registry
from routing_engine.reference.chains import bridge_facts

SEND_TOKEN = Function(f"sendToken({ORDER},(uint256,uint256),address)")
"""As ``send``, and says more."""


class StargateEvents:
    """Events of the pools (npm @stargatefinance/stg-evm-v2 2.0.6), by LayerZero's guid of the message.

    ``OFTReceived`` comes after the transfer, and not at all where the pool could not pay.

    Parameters
    ----------
    chain_id : int
        Where the pools are.
    symbols : mapping of str to str
        What each pool holds.
    """

    SENT = hash_signature("OFTSent(bytes32,uint32,address,uint256,uint256)")
    RECEIVED = hash_signature("OFTReceived(bytes32,uint32,address,uint256)")
    topics = frozenset({SENT, RECEIVED})

    def __init__(self, chain_id: int, symbols: Mapping[str, str]) -> None:
        self._chain_id, self._symbols = chain_id, symbols
        self.contracts = frozenset(symbols)

    def read(self, log: Log) -> BridgeEvent | None:
        """Return what a pool took in or paid out."""
        bridge_id, person = f"stargate:0x{read_topic(log, 1).hex()}", read_address(read_topic(log, 2))
        token = token_registry.token(self._symbols[log.address], self._chain_id).address
        if log.topics[0] == self.RECEIVED:
            return Delivery(
                bridge_id=bridge_id, contract=log.address, token_address=token, recipient=person,
                amount=read_number(log, 1), is_announced=False,
            )  # fmt: skip
        return Deposit(
            bridge_id=bridge_id, contract=log.address, token_address=token, recipient="", amount=read_number(log, 1),
            payer=person, delivery_topics=(self.RECEIVED, log.topics[1]),
        )  # fmt: skip

    def complete(self, deposit: Deposit, calldata: bytes) -> Deposit:
        """Return a send with its recipient, which the event leaves out, and the least that is to arrive."""
        found = SEND.read(calldata) or SEND_TOKEN.read(calldata)
        if found is None:
            return deposit
        (eid, to, _, least, *_), *_ = found[0]
        asset = token_registry.by_symbol(self._symbols[deposit.contract])
        chain_id = next((each for each in bridge_facts("layerzero") if get_endpoint_id(each) == eid), None)
        promise = None
        if chain_id is not None and chain_id in asset.addresses:
            here, there = asset.on(self._chain_id), asset.on(chain_id)
            amount = rescale(least, here.decimals, there.decimals)
            promise = Promise(chain_id=chain_id, token_address=there.address, recipient=read_address(to), amount=amount)
        return replace(deposit, recipient=read_address(to), promise=promise)


def find_readers(chain_id: int) -> Iterator[StargateEvents]:
    """Yield the events of a chain's pools."""
    pools = read_deployments("stargate", chain_id) if chain_id in bridge_facts("layerzero") else ()
    symbols = {facts.get_address("pool"): facts.get_text("symbol") for facts in pools}
    if symbols:
        yield StargateEvents(chain_id, symbols)
