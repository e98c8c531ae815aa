"""Wire format of questions for routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load, validates_schema

from api.context import get_resources
from api.domain.errors import InvalidData
from api.schemas.base import BaseSchema
from api.schemas.fields.addresses import Address, PayeeAddress
from api.schemas.fields.limited import ChoiceField, CountField, ProtocolsField, SupportedChain
from api.schemas.fields.plain import AmountField
from api.schemas.routing.pairs import DEFAULT_SPLITS, PairSchema
from api.services.routing.query import MAX_SLIPPAGE_BPS, RouteQuery
from api.services.vendors.settlement_accounts import refuse_recipient
from routing_engine.objective import OBJECTIVES
from routing_engine.request import DEFAULT_MAX_HOPS, MAX_ALTERNATIVES, MAX_HOPS, MAX_SPLITS

USDC_ETHEREUM = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
USDC_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
EXAMPLE = {
    "fromToken": USDC_ETHEREUM,
    "toToken": USDC_BASE,
    "fromChainId": "1",
    "toChainId": "8453",
    "inputAmount": "2500000000",
}
"""2,500 USDC from Ethereum to Base."""


class TokenShape(StrEnum):
    """Where an answer describes its tokens."""

    INLINE = "inline"
    ONCE = "once"


class RoutePair(PairSchema):
    """The properties of the interface, in its order."""

    amount_in_names: ClassVar[tuple[str, ...]] = ("inputAmount",)
    amount_out_names: ClassVar[tuple[str, ...]] = ("outputAmount",)

    from_token = Address(
        required=True,
        data_key="fromToken",
        metadata={
            "description": "Address of the source token in any case. The chain's own coin is "
            "`0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`; the zero address means it too.",
            "example": USDC_ETHEREUM,
        },
    )
    to_token = Address(
        required=True,
        data_key="toToken",
        metadata={"description": "Address of the destination token.", "example": USDC_BASE},
    )
    from_chain = SupportedChain(
        required=True,
        data_key="fromChainId",
        metadata={"description": "Chain id of the source token, as a string or an integer.", "example": "1"},
    )
    to_chain = SupportedChain(
        required=True,
        data_key="toChainId",
        metadata={"description": "Chain id of the destination token.", "example": "8453"},
    )
    amount_in = AmountField(
        data_key="inputAmount",
        metadata={
            "description": "How much of the source token to swap, in its smallest unit; required unless "
            "`outputAmount` is given.",
            "example": "2500000000",
        },
    )
    amount_out = AmountField(
        data_key="outputAmount",
        metadata={
            "description": "Instead of `inputAmount`: how much of the destination token must arrive. The route is "
            "then the one that needs the least."
        },
    )


class RouteQuerySchema(RoutePair):
    """A question for routes, and for the transactions of a wallet."""

    order = ChoiceField(
        tuple(OBJECTIVES),
        metadata={
            "description": "`cheapest` (default): most output after gas. `fastest`: least time. `balanced`: "
            "one minute of waiting weighs as much as 0.01 % of the amount."
        },
    )
    slippage_bps = CountField(
        minimum=0,
        maximum=MAX_SLIPPAGE_BPS,
        data_key="slippageBps",
        metadata={
            "description": "Tolerated loss until execution in 1/10000; decides `outputAmountMin`. Default: 30 between "
            "stablecoins, else 50."
        },
    )
    max_hops = CountField(
        minimum=1,
        maximum=MAX_HOPS,
        data_key="maxHops",
        metadata={"description": f"At most how many steps one after the other. Default: {DEFAULT_MAX_HOPS}."},
    )
    max_splits = CountField(
        minimum=1,
        maximum=MAX_SPLITS,
        data_key="maxSplits",
        metadata={"description": f"At most how many paths side by side. Default: {DEFAULT_SPLITS}."},
    )
    allow_protocols = ProtocolsField(
        data_key="allowProtocols",
        metadata={"description": "Use these protocols only."},
    )
    deny_protocols = ProtocolsField(
        data_key="denyProtocols",
        metadata={"description": "Never use these protocols."},
    )
    alternatives = CountField(
        minimum=0,
        maximum=MAX_ALTERNATIVES,
        metadata={"description": "How many further routes to return in `alternatives`. Default: 0."},
    )
    payer = PayeeAddress(
        metadata={
            "description": "Whose wallet executes the route. With it and `recipient` each route has `legs`: the "
            "transactions, tried out, or the reason why there are none. In mixed case its checksum (EIP-55) has to be "
            "right.",
        }
    )
    recipient = PayeeAddress(
        metadata={"description": "Who gets what arrives in the end; may be the payer. Required with `payer`."}
    )

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_wallets(self, data: Mapping[str, Any], original: Mapping[str, Any], **_: object) -> None:
        """Refuse one without the other, and addresses that are nobody's wallet."""
        faults = {}
        for name, other, end in (("payer", "recipient", "from"), ("recipient", "payer", "to")):
            if other in original and name not in original:
                faults[name] = f"Required with {other}"
            elif name in data and f"{end}_chain" in data and f"{end}_token" in data:
                faults[name] = _find_wallet_fault(data[name], data[f"{end}_chain"], data[f"{end}_token"])
        found = {name: [message] for name, message in faults.items() if message}
        if found:
            raise ValidationError(found)

    @post_load
    def make_query(self, data: Mapping[str, Any], **options: object) -> RouteQuery:
        """Build the query."""
        query: RouteQuery = super().make_query(data, **options)
        return replace(query, payer=data.get("payer", ""), recipient=data.get("recipient", ""))


def _find_wallet_fault(address: str, chain_id: int, token_address: str) -> str:
    """Return why an address is nobody's wallet, empty where it may be one."""
    token = get_resources().market.token(chain_id, token_address)
    if token is None:
        return ""
    try:
        refuse_recipient(address, token)
    except InvalidData as refused:
        return refused.problems[0].message
    return ""


class RouteShapeQuery(BaseSchema):
    """How the answer is written."""

    tokens = ChoiceField(
        tuple(TokenShape),
        load_default=TokenShape.INLINE,
        metadata={
            "description": "`inline` (default): each step and fee has its tokens whole. `once`: they have only the "
            "`key` of each, and `tokens` of the answer has every token by its key; that is a sixth to a twelfth as "
            "long."
        },
    )
