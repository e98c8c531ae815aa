"""Burns over Circle's CCTP v2: ``depositForBurn`` of ``TokenMessengerV2`` (circlefin/evm-cctp-contracts)."""

from __future__ import annotations

from adapters.chain.abi import Function
from adapters.chain.deployments import deployments_of
from adapters.transactions.base import CannotBuild, PaymentCall, PlannedHop, Spending, Terms

BURN = Function("depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)")
"""Amount, destination, recipient, token, who may mint, largest fee, finality; selector 8e0250ee."""
ANYBODY = bytes(32)


class CctpPayments:
    """Pays by burning: after Circle's attestation anybody may mint for the recipient, on the destination.

    Somebody has to, with a transaction there; so this is not offered to payers, who would sign twice.
    """

    protocols = frozenset({"cctp_fast", "cctp_standard"})

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are one burn."""
        return len(hops) == 1 and hops[0].hop.protocol in self.protocols

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the burn; the largest fee is all that may be lost of the amount. See `PaymentBuilder.build`."""
        from adapters.cctp import DOMAINS  # here, since it loads the compiler

        if not self.can_build(hops):
            raise CannotBuild("cctp takes one burn")
        (hop,) = (each.hop for each in hops)
        chain_id = hop.token_in.chain_id
        (messenger,) = (facts.address("token_messenger") for facts in deployments_of("cctp", chain_id))
        recipient = bytes(12) + bytes.fromhex(terms.recipient[2:])
        fee, finality = terms.amount_in_max - terms.amount_out, terms.firm["minFinalityThreshold"]
        destination = DOMAINS[hop.token_out.chain_id]
        order = (terms.amount_in_max, destination, recipient, hop.token_in.address, ANYBODY, fee, finality)
        spending = Spending(token=hop.token_in, spender=messenger, amount=terms.amount_in_max)
        return PaymentCall(chain_id=chain_id, to=messenger, data=BURN(messenger, *order).data, spending=spending)
