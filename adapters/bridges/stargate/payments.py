"""Sends over Stargate v2: ``send`` of its pools (stargate-protocol/stargate-v2, ``IOFT`` of LayerZero)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast

from adapters.bridges.stargate.protocol import ORDER
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_address, read_arguments
from routing_engine.fixed_point import rescale_up
from routing_engine.reference import token_registry

SEND = Function(f"send({ORDER},(uint256,uint256),address)")
"""``SendParam``, ``MessagingFee`` and who gets back what the message did not cost; selector c7c7f5b3."""


class StargatePayments(PaymentBuilder):
    """Pays by taxi: the message is delivered at once, and its price goes along as a value."""

    protocols = frozenset({"stargate"})
    crosses_chains = True

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are one send."""
        return len(hops) == 1 and hops[0].hop.protocol == "stargate"

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the send. What it delivers at least is what is due; see `PaymentBuilder.build`."""
        if not self.can_build(hops):
            raise CannotBuild("stargate takes one send")
        (hop,) = (each.hop for each in hops)
        pool, fee = str(terms.firm["contract"]), cast("int", terms.firm["nativeFee"])
        to = bytes(12) + bytes.fromhex(terms.recipient[2:])
        least = rescale_up(terms.amount_out, hop.token_out.decimals, hop.token_in.decimals)
        order = (terms.firm["dstEid"], to, terms.amount_in_max, least, b"", b"", b"")
        data = SEND(pool, order, (fee, 0), terms.payer).data
        is_coin = hop.token_in.is_native
        spending = None if is_coin else Spending(token=hop.token_in, spender=pool, amount=terms.amount_in_max)
        value = fee + (terms.amount_in_max if is_coin else 0)
        return PaymentCall(chain_id=hop.token_in.chain_id, to=pool, data=data, value=value, spending=spending)

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads sends by the chain's pools back."""
        pools = {each.get_address("pool"): each.get_text("symbol") for each in read_deployments("stargate", chain_id)}
        return {
            pool: partial(_read, token=token_registry.token(symbol, chain_id).address) for pool, symbol in pools.items()
        }


def _read(pool: str, calldata: bytes, token: str) -> DecodedPayment | None:
    found = read_arguments(SEND, calldata)
    if found is None:
        return None
    ((_, to, *_), *_), reference = found
    return DecodedPayment(
        contract=pool,
        token_address=token,
        recipient=read_address(to),
        amount=None,
        is_deposit=True,
        reference=reference,
    )
