"""Across between two local chains: what its relayers confirm, and what they do."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adapters.base import FirmQuote
from adapters.chain.deployments import deployments_of
from routing_engine.markets import BridgeLane
from routing_engine.model import Hop
from tests.support.evm import ACTOR
from tests.support.main_net import MainNet

NOBODY = "0x" + "00" * 20
DEPOSIT_TOPICS = 4


@dataclass
class Relayers:
    """Confirm a lane's terms; `worse_by` is what they keep more by now, in millionths."""

    lane: BridgeLane
    net: MainNet
    worse_by: int = 0

    def firm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        made, _ = self.lane.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
        made = replace(made, amount_out=made.amount_out * (10**6 - self.worse_by) // 10**6)
        now = int(self.net.chain.now())
        (pool,) = (row.address("spoke_pool") for row in deployments_of("across", hop.token_in.chain_id))
        moments = {"timestamp": now, "fillDeadline": now + 20_000, "exclusivityDeadline": 0}
        return FirmQuote(hop=made, terms={**moments, "exclusiveRelayer": NOBODY, "spokePoolAddress": pool})


def fill(origin: MainNet, destination: MainNet, tx_hash: str) -> str:
    """Do what relayers do: read the deposit's event, and pay its recipient on the other chain; return that hash."""
    receipt = origin.chain.rpc("eth_getTransactionReceipt", tx_hash)
    pool = origin.spoke_pool.address
    (log,) = (row for row in receipt["logs"] if row["address"] == pool and len(row["topics"]) == DEPOSIT_TOPICS)
    deposit_id, depositor = int(log["topics"][2], 16), bytes.fromhex(log["topics"][3][2:])
    words = [bytes.fromhex(log["data"][2:])[place : place + 32] for place in range(0, 32 * 9, 32)]
    sold, bought, amount_in, amount_out, _, fill_deadline, exclusivity, recipient, relayer = words
    numbers = (int.from_bytes(each) for each in (amount_in, amount_out))
    origin_id = origin.chain.chain_id
    order = (
        depositor, recipient, relayer, sold, bought, *numbers, origin_id, deposit_id,
        int.from_bytes(fill_deadline), int.from_bytes(exclusivity), b"",
    )  # fmt: skip
    destination.spoke_pool("fillRelay", order, origin_id, bytes(12) + bytes.fromhex(ACTOR[2:]))
    return str(destination.chain.rpc("eth_getBlockByNumber", "latest", False)["transactions"][-1])
