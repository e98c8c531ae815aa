"""deBridge's DLN, by its API: what takers ask for the assets that they hold everywhere.

Endpoint and fields are those of https://docs.debridge.com/dln-details/integration-guidelines/order-creation.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from adapters.base import FirmQuote
from adapters.bridges.base import Bridge
from adapters.bridges.common import (
    Direction,
    ask_each,
    check_token,
    confirm_hop,
    pair_assets,
    refuse_invalid,
)
from adapters.bridges.service import ServiceAdapter
from adapters.http.json_fields import Field
from routing_engine.fixed_point import BPS, WAD, mul_div_up, rescale
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges import debridge_lane
from routing_engine.markets.bridges.terms import rate_of_bps
from routing_engine.model import ZERO_ADDRESS, Hop, Token
from routing_engine.reference.chains import bridge_facts

"""The service recommends that a transaction is sent within 30 seconds of its quote, and quotes are asked for again."""
RESERVES = ("USDC", "ETH")
"""What takers hold; other tokens would be exchanged first, which is the router's own business."""
MAX_FEE_BPS = 1_000
MAX_FIXED_FEE = 10**20
MAX_CALLDATA_BYTES = 32_768
MAX_COSTS = 32

Answers: TypeAlias = tuple[tuple[Direction, Any], ...]


class DebridgeAdapter(ServiceAdapter[Answers]):
    """One lane for each direction of each reserve asset."""

    name = "debridge"
    protocols = ("debridge",)
    url = "https://dln.debridge.finance/v1.0"
    interval_s = 60.0
    max_age_s = 180.0

    def fetch(self) -> Answers:
        """Ask for an estimate in each direction; what is declined is left out."""
        return ask_each(
            pair_assets(self.tokens.values(), RESERVES, bridge_facts("debridge")),
            lambda each: self._ask(each, each.typical_amount, {}),
        )

    def parse(self, payload: Answers) -> Contents:
        """Return a lane for each answer."""
        return Contents(markets=tuple(read_lane(direction, answer) for direction, answer in payload))

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for an order of this amount between these addresses; the terms are its id and the transaction."""
        direction = Direction.from_hop(hop)
        answer = self._ask(
            direction,
            hop.amount_in,
            {
                "dstChainTokenOutRecipient": recipient,
                "dstChainOrderAuthorityAddress": recipient,
                "srcChainOrderAuthorityAddress": sender,
                "senderAddress": sender,
            },
        )
        document = Field(answer, f"debridge {direction.path}")
        document.get("estimation", "srcChainTokenIn", "amount").read_integer(hop.amount_in, hop.amount_in)
        transaction = document.get("tx")
        terms: dict[str, object] = {
            "orderId": document.get("orderId").read_data(32),
            "to": transaction.get("to").read_contract(),
            "data": transaction.get("data").read_data(MAX_CALLDATA_BYTES),
            "value": transaction.get("value").read_integer(),
        }
        return FirmQuote(hop=confirm_hop(read_lane(direction, answer), hop), terms=terms)

    def _ask(self, direction: Direction, amount: int, more: Mapping[str, str]) -> Any:
        question: dict[str, str | int] = {
            "srcChainId": direction.token_in.chain_id,
            "srcChainTokenIn": _name_token(direction.token_in),
            "srcChainTokenInAmount": amount,
            "dstChainId": direction.token_out.chain_id,
            "dstChainTokenOut": _name_token(direction.token_out),
            "dstChainTokenOutAmount": "auto",
            "prependOperatingExpenses": "false",
        }
        return self.client.get(f"{self.url}/dln/order/create-tx", {**question, **more})


def read_lane(direction: Direction, answer: Any) -> BridgeLane:
    """Return the lane of an answer of ``/dln/order/create-tx``.

    Its proportional fees are those itemised; the flat one is what else does not arrive, so that for the amount asked
    the lane gives what the service recommends to ask of takers.
    """
    document = Field(answer, f"debridge {direction.path}")
    estimate = document.get("estimation")
    sent, taken = estimate.get("srcChainTokenIn"), estimate.get("dstChainTokenOut")
    check_token(sent, direction.token_in)
    check_token(taken, direction.token_out)
    amount = sent.get("amount").read_integer(1)
    recommended = taken.get("recommendedAmount")
    most = rescale(amount, direction.token_in.decimals, direction.token_out.decimals)
    arrives = rescale(recommended.read_integer(1, most), direction.token_out.decimals, direction.token_in.decimals)
    protocol, margin = (_read_bps(estimate, kind) for kind in ("DlnProtocolFee", "TakerMargin"))
    margin = margin * (1 - protocol / BPS)  # takers count theirs on what the protocol has left
    with refuse_invalid(document.path):
        rate = rate_of_bps(protocol, "DlnProtocolFee") + rate_of_bps(margin, "TakerMargin")
        proportional = mul_div_up(amount, rate, WAD)
        return debridge_lane(
            direction.token_in,
            direction.token_out,
            fixed_native_fee=document.get("fixFee").read_integer(0, MAX_FIXED_FEE),
            operating_expenses=max(0, amount - arrives - proportional),
            fill_time_s=document.get("order", "approximateFulfillmentDelay").read_seconds(),
            protocol_fee_bps=protocol,
            taker_margin_bps=margin,
        )


def _read_bps(estimate: Field, kind: str) -> Decimal:
    """Return the rate of the itemised cost of this kind; 0 where the service takes none."""
    for cost in estimate.get("costsDetails").read_items(MAX_COSTS):
        if cost.get("type").read_text() == kind:
            return cost.get("payload", "feeBps").read_decimal(0, MAX_FEE_BPS)
    return Decimal(0)


def _name_token(token: Token) -> str:
    return ZERO_ADDRESS if token.is_native else token.address


BRIDGE = Bridge(adapter=DebridgeAdapter)
