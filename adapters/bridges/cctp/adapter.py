"""Circle's CCTP v2, by its attestation service: what a burn costs from each chain to each other.

Endpoints and fields are those of https://developers.circle.com/api-reference/cctp.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adapters.base import Declined, FirmQuote
from adapters.bridges.common import Direction, ask_each, confirm_hop, pair_assets, refuse_invalid
from adapters.bridges.service import ServiceAdapter
from adapters.http.json_fields import Field
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges import Finality, cctp_lane
from routing_engine.markets.bridges.fill_times import cctp_fast_fill_time, cctp_standard_fill_time
from routing_engine.model import Hop
from routing_engine.reference.chains import CHAINS, bridge_facts

MAX_FEE_BPS = 1_000
MAX_ALLOWANCE = 10**12
"""In whole USDC: more than there is."""
MAX_FORWARD_FEE = 10**9
"""Smallest units: a thousand dollars for one transaction, which no chain has asked for yet."""


@dataclass(frozen=True, slots=True)
class CctpAnswers:
    """The allowance of fast transfers, and the fees of each direction, as the service gave them."""

    allowance: Any
    fees: tuple[tuple[Direction, Any], ...]


class CctpAdapter(ServiceAdapter[CctpAnswers]):
    """Lanes of USDC between all chains, fast and standard, each with Circle's forwarding and without."""

    name = "cctp"
    protocols = ("cctp_fast", "cctp_standard", "cctp_fast_forwarded", "cctp_standard_forwarded")
    url = "https://iris-api.circle.com"
    interval_s = 60.0
    max_age_s = 600.0

    def fetch(self) -> CctpAnswers:
        """Ask for the allowance and for the fees of each direction; one that is declined is left out."""
        directions = pair_assets(self.tokens.values(), ("USDC",), bridge_facts("cctp"))
        return CctpAnswers(self._ask_allowance(), ask_each(directions, self._ask_fees))

    def parse(self, payload: CctpAnswers) -> Contents:
        """Return up to four lanes for each direction."""
        allowance = read_allowance(payload.allowance)
        return Contents(markets=tuple(each for pair in payload.fees for each in read_lanes(*pair, allowance)))

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for fees and allowance now; the terms are arguments of the burn. Addresses change nothing."""
        direction = Direction.from_hop(hop)
        for lane in read_lanes(direction, self._ask_fees(direction), read_allowance(self._ask_allowance())):
            if lane.protocol == hop.protocol:
                firm = confirm_hop(lane, hop)
                finality = Finality.FAST if lane.protocol.startswith("cctp_fast") else Finality.STANDARD
                max_fee = firm.amount_in - firm.amount_out
                return FirmQuote(hop=firm, terms={"maxFee": max_fee, "minFinalityThreshold": int(finality)})
        raise Declined(f"cctp {direction.path}: {hop.protocol} is not offered now", status=200)

    def _ask_allowance(self) -> Any:
        return self.client.get(f"{self.url}/v2/fastBurn/USDC/allowance")

    def _ask_fees(self, direction: Direction) -> Any:
        ends = f"{get_domain(direction.token_in.chain_id)}/{get_domain(direction.token_out.chain_id)}"
        return self.client.get(f"{self.url}/v2/burn/USDC/fees/{ends}", {"forward": "true"})


def get_domain(chain_id: int) -> int:
    """Return Circle's number of a chain that it serves."""
    return int(CHAINS[chain_id].bridges["cctp"]["domain"])


def read_allowance(answer: Any) -> int:
    """Return what fast transfers may still take, in smallest units: the service gives whole USDC with decimals."""
    return int(Field(answer, "cctp").get("allowance").read_decimal(0, MAX_ALLOWANCE) * 10**6)


def read_lanes(direction: Direction, answer: Any, allowance: int) -> Iterator[BridgeLane]:
    """Yield the lanes of an answer of ``/v2/burn/USDC/fees``; other thresholds than the two known are passed over.

    Where the service does not state a fast transfer's time, there is no fast lane: the chain is final as soon. Where it
    names what it takes for minting, a lane that it forwards is beside each. Of the three fees that it names the highest
    is taken: it moves with the gas price until the mint, and what is not needed arrives.
    """
    ends = direction.token_in.chain_id, direction.token_out.chain_id
    times = {Finality.FAST: cctp_fast_fill_time(*ends), Finality.STANDARD: cctp_standard_fill_time(*ends)}
    for row in Field(answer, f"cctp {direction.path}").read_items(16):
        threshold = row.get("finalityThreshold").read_integer(0, 10_000)
        fee = row.get("minimumFee").read_decimal(0, MAX_FEE_BPS)
        seconds = next((time for finality, time in times.items() if finality == threshold), None)
        if seconds is None:
            continue
        finality = Finality(threshold)
        forwarding = row.get("forwardFee", "high").read_integer(0, MAX_FORWARD_FEE) if row.has("forwardFee") else None
        with refuse_invalid(row.path):
            for forward_fee in dict.fromkeys((None, forwarding)):
                yield cctp_lane(
                    direction.token_in,
                    direction.token_out,
                    finality=finality,
                    minimum_fee_bps=fee,
                    fill_time_s=seconds,
                    allowance=allowance if finality is Finality.FAST else None,
                    forward_fee=forward_fee,
                )
