"""Stargate v2 over LayerZero v2 between two local chains: the contracts of both, with a test as the verifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eth_abi import decode
from eth_utils import keccak

from adapters.bridges.stargate.protocol import get_endpoint_id
from adapters.chain.deployments import read_deployments
from routing_engine.amm.stargate_fee import FeeTerms
from tests.support.evm import ACTOR, Contract
from tests.support.main_net import MainNet, constructed
from tests.support.npm import LAYER_ZERO, STARGATE, artifact

PACKET = "0x" + keccak(text="PacketSent(bytes,bytes,address)").hex()
MESSAGE_FEE = 10**14
"""Wei for one message."""
ASSET = 1


def _compiled(name: str) -> dict[str, Any]:
    return artifact(STARGATE, f"artifacts/src/{name}.sol/{name.rpartition('/')[2]}.json")


def _protocol(name: str) -> dict[str, Any]:
    return artifact(LAYER_ZERO, f"artifacts/contracts/{name}.sol/{name.rpartition('/')[2]}.json")


@dataclass(frozen=True)
class StargateEnd:
    """One chain's pool of USDC, and the endpoint through which it sends."""

    net: MainNet
    endpoint: Contract
    library: Contract
    messaging: Contract
    pool: Contract
    fees: Contract

    @classmethod
    def deploy(cls, net: MainNet) -> StargateEnd:
        chain, coin = net.chain, net.tokens["USDC"]
        endpoint = chain.deploy(_protocol("EndpointV2"), get_endpoint_id(chain.chain_id), ACTOR)
        library = chain.deploy(_protocol("messagelib/SimpleMessageLib"), endpoint.address, ACTOR)
        endpoint("registerLibrary", library.address)
        library("setMessagingFee", MESSAGE_FEE, 0)
        messaging = chain.deploy(_compiled("messaging/TokenMessaging"), endpoint.address, ACTOR, 512)
        at = next(
            row.get_address("pool")
            for row in read_deployments("stargate", chain.chain_id)
            if row.get_text("symbol") == "USDC"
        )
        pool = constructed(
            chain, at, _compiled("StargatePool"), "LP", "LP", coin.address, 6, 6, endpoint.address, ACTOR
        )
        fees = chain.deploy(_compiled("feelibs/FeeLibV1"), pool.address)
        pool("setAddressConfig", (fees.address, ACTOR, ACTOR, messaging.address, ACTOR, coin.address))
        messaging("setMaxAssetId", ASSET)
        messaging("setAssetId", pool.address, ASSET)
        coin("approve", pool.address, 2**256 - 1)
        pool("deposit", ACTOR, 10**12)
        return cls(net, endpoint, library, messaging, pool, fees)

    @property
    def eid(self) -> int:
        return get_endpoint_id(self.net.chain.chain_id)

    def join(self, other: StargateEnd, terms: FeeTerms, credit: int) -> None:
        """Open the path to another chain."""
        self.endpoint("setDefaultSendLibrary", other.eid, self.library.address)
        self.endpoint("setDefaultReceiveLibrary", other.eid, self.library.address, 0)
        self.messaging("setPeer", other.eid, bytes(12) + bytes.fromhex(other.messaging.address[2:]))
        self.fees("setFeeConfig", other.eid, *terms)
        self.pool("receiveCredits", other.eid, [(other.eid, credit)])

    def deliver(self, origin: StargateEnd, tx_hash: str) -> str:
        """Do what LayerZero's verifiers and executors do for a message; return the transaction that delivers it."""
        packet = _packet(origin, tx_hash)
        nonce, sender, receiver = int.from_bytes(packet[1:9]), packet[13:45], "0x" + packet[61:81].hex()
        guid, message = packet[81:113], packet[113:]
        self.library("validatePacket", packet)
        self.endpoint("lzReceive", (origin.eid, sender, nonce), receiver, guid, message, b"")
        return str(self.net.chain.rpc("eth_getBlockByNumber", "latest", False)["transactions"][-1])


def _packet(origin: StargateEnd, tx_hash: str) -> bytes:
    receipt = origin.net.chain.rpc("eth_getTransactionReceipt", tx_hash)
    (log,) = (row for row in receipt["logs"] if row["topics"][0] == PACKET)
    packet: bytes = decode(["bytes", "bytes", "address"], bytes.fromhex(log["data"][2:]))[0]
    return packet
