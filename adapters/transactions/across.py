"""Deposits into Across with an exact output: ``depositV3`` of the spoke pools (across-protocol/contracts)."""

from __future__ import annotations

from adapters.chain.abi import Function
from adapters.chain.deployments import deployments_of
from adapters.transactions.base import CannotBuild, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.paths import WRAP, wrapped
from routing_engine.chains import CHAINS
from routing_engine.model import Hop

DEPOSIT = Function(
    "depositV3(address,address,address,address,uint256,uint256,uint256,address,uint32,uint32,uint32,bytes)"
)
"""Depositor, recipient, tokens in and out, amounts in and out, destination, exclusive relayer, moment of the quote, end
of filling, exclusivity, message; selector 7b939232. With a value, the wrapped coin is made of it."""


class AcrossPayments:
    """Pays through a spoke pool: a relayer gives the recipient just the output amount, or the payer is refunded."""

    protocols = frozenset({"across"})

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are one deposit, perhaps of the chain's coin.

        A wallet that is due the wrapped coin would get the coin itself, which is another token; it is not offered.
        """
        deposit = _deposit(hops)
        return deposit is not None and deposit.token_out != wrapped(CHAINS[deposit.token_out.chain_id].native_token)

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the deposit. What relayers keep is all that is between the amounts; see `PaymentBuilder.build`."""
        hop = _deposit(hops)
        if hop is None or not self.can_build(hops):
            raise CannotBuild("across takes one deposit, and does not deliver wrapped coins to wallets")
        pool, is_coin = _spoke_pool(hop.token_in.chain_id), hops[0].hop.token_in.is_native
        if terms.firm["spokePoolAddress"] != pool:
            raise CannotBuild(f"the service names {terms.firm['spokePoolAddress']} as its pool, known is {pool}")
        data = DEPOSIT(
            pool,
            terms.payer,
            terms.recipient,
            hop.token_in.address,
            hop.token_out.address,
            terms.amount_in_max,
            terms.amount_out,
            hop.token_out.chain_id,
            terms.firm["exclusiveRelayer"],
            terms.firm["timestamp"],
            terms.firm["fillDeadline"],
            terms.firm["exclusivityDeadline"],
            b"",
        ).data
        spending = None if is_coin else Spending(token=hop.token_in, spender=pool, amount=terms.amount_in_max)
        value = terms.amount_in_max if is_coin else 0
        return PaymentCall(chain_id=hop.token_in.chain_id, to=pool, data=data, value=value, spending=spending)


def _spoke_pool(chain_id: int) -> str:
    (pool,) = (facts.address("spoke_pool") for facts in deployments_of("across", chain_id))
    return pool


def _deposit(hops: tuple[PlannedHop, ...]) -> Hop | None:
    """Return the only hop that is not the coin's wrapping before it."""
    rest = hops[1:] if len(hops) > 1 and hops[0].hop.protocol == WRAP and hops[0].hop.token_in.is_native else hops
    is_one = len(rest) == 1 and rest[0].hop.protocol == "across"
    return rest[0].hop if is_one else None
