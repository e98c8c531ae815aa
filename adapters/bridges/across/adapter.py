"""Across, by its API: which routes there are, and what relayers ask for on each.

Endpoints, parameters and fields are those of https://docs.across.to/reference/api-reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from adapters.base import FirmQuote
from adapters.bridges.common import (
    MAX_RATE_E18,
    Direction,
    ask_each,
    check_token,
    confirm_hop,
    refuse_invalid,
)
from adapters.bridges.service import ServiceAdapter
from adapters.http.json_fields import Field
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges import across_lane
from routing_engine.model import Hop, Token

MAX_ROUTES = 20_000
TERMS = ("timestamp", "exclusivityDeadline", "fillDeadline")

Answers: TypeAlias = tuple[tuple[Direction, Any], ...]


class AcrossAdapter(ServiceAdapter[Answers]):
    """One lane for each enabled route between listed tokens."""

    name = "across"
    protocols = ("across",)
    url = "https://app.across.to/api"
    interval_s = 60.0
    max_age_s = 300.0
    """The service asks its users to keep an answer for at most 300 seconds."""

    def fetch(self) -> Answers:
        """Ask for the routes, then for the fees of each; what the service declines is left out."""
        routes = read_directions(self.client.get(f"{self.url}/available-routes"), self.tokens)
        return ask_each(routes, lambda each: self._ask(each, each.typical_amount, {}))

    def parse(self, payload: Answers) -> Contents:
        """Return a lane for each answer."""
        return Contents(markets=tuple(read_lane(direction, answer) for direction, answer in payload))

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for the fees of this amount to this recipient; the terms are what ``depositV3`` needs besides."""
        direction = Direction.from_hop(hop)
        answer = self._ask(direction, hop.amount_in, {"recipient": recipient})
        document = Field(answer, f"across {direction.path}")
        terms: dict[str, object] = {name: document.get(name).read_integer(0, 2**32 - 1) for name in TERMS}
        terms["spokePoolAddress"] = document.get("spokePoolAddress").read_contract()
        terms["exclusiveRelayer"] = document.get("exclusiveRelayer").read_address()
        return FirmQuote(hop=confirm_hop(read_lane(direction, answer), hop), terms=terms)

    def _ask(self, direction: Direction, amount: int, more: Mapping[str, str]) -> Any:
        question: dict[str, str | int] = {
            "inputToken": direction.token_in.address,
            "outputToken": direction.token_out.address,
            "originChainId": direction.token_in.chain_id,
            "destinationChainId": direction.token_out.chain_id,
            "amount": amount,
        }
        return self.client.get(f"{self.url}/suggested-fees", {**question, **more})


def read_directions(routes: Any, tokens: Mapping[str, Token]) -> tuple[Direction, ...]:
    """Return the routes of ``/available-routes`` whose tokens are listed, each once.

    The native coin has routes of its own there, under the address of its wrapped token.
    """
    found: dict[Direction, None] = {}
    for row in Field(routes, "across routes").read_items(MAX_ROUTES):
        ends = [
            f"{row.get(f'{end}Token').read_text().lower()}@{row.get(f'{end}ChainId').read_integer(1, 2**63)}"
            for end in ("origin", "destination")
        ]
        if all(end in tokens for end in ends):
            found[Direction(tokens[ends[0]], tokens[ends[1]])] = None
    return tuple(found)


def read_lane(direction: Direction, answer: Any) -> BridgeLane:
    """Return the lane of an answer of ``/suggested-fees``.

    Up to ``maxDepositInstant`` relayers fill at once; more would wait for their funds to be moved.
    """
    document = Field(answer, f"across {direction.path}")
    for name, token in (("inputToken", direction.token_in), ("outputToken", direction.token_out)):
        if document.has(name):
            check_token(document.get(name), token)
    limits = document.get("limits")
    longest = limits.get("maxDeposit").read_integer()
    found = read_fees(document)
    with refuse_invalid(document.path):
        made = across_lane(
            direction.token_in,
            direction.token_out,
            **found,
            min_deposit=limits.get("minDeposit").read_integer(),
            max_deposit=min(longest, limits.get("maxDepositInstant").read_integer()),
            fill_time_s=document.get("estimatedFillTimeSec").read_seconds(),
        )
    if direction.token_in.symbol == direction.token_out.symbol:
        return made
    return replace(made, id=f"{made.id}-{direction.token_out.address}")


def read_fees(document: Field) -> dict[str, int]:
    """Return the three fees. Answers of February 2023 have no nested fees; flat ones are all they give."""
    if document.has("relayerCapitalFee"):
        capital, lp = document.get("relayerCapitalFee", "pct"), document.get("lpFee", "pct")
        gas = document.get("relayerGasFee", "total")
    else:
        capital, lp = document.get("capitalFeePct"), document.get("lpFeePct")
        gas = document.get("relayGasFeeTotal")
    return {
        "capital_fee_e18": capital.read_integer(0, MAX_RATE_E18),
        "lp_fee_e18": lp.read_integer(0, MAX_RATE_E18),
        "relayer_gas_fee": gas.read_integer(0, 2**128),
    }
