"""Burns over Circle's CCTP v2: ``depositForBurnWithHook`` of ``TokenMessengerV2`` (circlefin/evm-cctp-contracts)."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.bridges.cctp.adapter import get_domain
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_address, read_arguments

BURN = Function("depositForBurnWithHook(uint256,uint32,bytes32,address,bytes32,uint256,uint32,bytes)")
"""Amount, destination, recipient, token, who may mint, largest fee, finality, hook; selector 779b432d."""
ANYBODY = bytes(32)
FORWARD = b"cctp-forward".ljust(24, b"\0") + bytes(4) + bytes(4)
"""Asks Circle to mint: its 24 bytes, version 0, no data of its own. Whatever stands behind it is ours."""


class CctpPayments(PaymentBuilder):
    """Pays by burning: Circle attests the burn, and mints for the recipient on the other chain for a fee.

    The recipient gets the amount less the fees, which are at most all that is above what is due. The order's reference
    stands in the hook, so that no two orders' burns are alike.
    """

    protocols = frozenset({"cctp_fast_forwarded", "cctp_standard_forwarded"})
    crosses_chains = True

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are one burn that Circle forwards."""
        return len(hops) == 1 and hops[0].hop.protocol in self.protocols

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the burn; the largest fee is all that may be lost of the amount. See `PaymentBuilder.build`."""
        if not self.can_build(hops):
            raise CannotBuild("cctp takes one burn that is forwarded")
        (hop,) = (each.hop for each in hops)
        chain_id = hop.token_in.chain_id
        (messenger,) = (facts.get_address("token_messenger") for facts in read_deployments("cctp", chain_id))
        recipient = bytes(12) + bytes.fromhex(terms.recipient[2:])
        fee, finality = terms.amount_in_max - terms.amount_out, terms.firm["minFinalityThreshold"]
        ends = get_domain(hop.token_out.chain_id), recipient, hop.token_in.address, ANYBODY
        order = (terms.amount_in_max, *ends, fee, finality, FORWARD + terms.reference)
        spending = Spending(token=hop.token_in, spender=messenger, amount=terms.amount_in_max)
        return PaymentCall(chain_id=chain_id, to=messenger, data=BURN(messenger, *order).data, spending=spending)

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads burns by the chain's messenger back."""
        return {facts.get_address("token_messenger"): _read for facts in read_deployments("cctp", chain_id)}


def _read(messenger: str, calldata: bytes) -> DecodedPayment | None:
    found = read_arguments(BURN, calldata)
    if found is None:
        return None
    (amount, _, to, token, *_), reference = found
    return DecodedPayment(
        contract=messenger, token_address=token, recipient=read_address(to), amount=amount, is_deposit=True,
        reference=reference,
    )  # fmt: skip
