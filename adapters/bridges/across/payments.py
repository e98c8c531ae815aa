"""Deposits into Across with an exact output: ``depositV3`` of the spoke pools (across-protocol/contracts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_address, read_arguments
from adapters.transactions.paths import WRAP, wrap_token
from routing_engine.model import ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS

DEPOSIT = Function(
    "depositV3(address,address,address,address,uint256,uint256,uint256,address,uint32,uint32,uint32,bytes)"
)
"""Depositor, recipient, tokens in and out, amounts in and out, destination, exclusive relayer, moment of the quote, end
of filling, exclusivity, message; selector 7b939232. With a value, the wrapped coin is made of it."""


DEPOSIT_OF_WORDS = Function(
    "deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
)
"""``depositV3`` with addresses as words; selector ad5425c6."""


class AcrossPayments(PaymentBuilder):
    """Pays through a spoke pool: a relayer gives the recipient just the output amount, or the payer is refunded."""

    protocols = frozenset({"across"})
    crosses_chains = True

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are one deposit, perhaps of the chain's coin."""
        deposit = _find_deposit(hops)
        return deposit is not None and delivers_its_output(deposit)

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the deposit. What relayers keep is all that is between the amounts; see `PaymentBuilder.build`."""
        deposit = _find_deposit(hops)
        if deposit is None or not delivers_its_output(deposit):
            raise CannotBuild("across takes one deposit, and does not deliver wrapped coins to wallets")
        hop, is_coin = deposit.hop, hops[0].hop.token_in.is_native
        pool = get_spoke_pool(hop.token_in.chain_id, terms)
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
        return PaymentCall(
            chain_id=hop.token_in.chain_id,
            to=pool,
            data=data,
            value=value,
            spending=spending,
            fill_deadline=cast("int", terms.firm["fillDeadline"]),
            relayer=get_relayer(terms),
        )

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads deposits into the chain's pool back."""
        return {facts.get_address("spoke_pool"): _read for facts in read_deployments("across", chain_id)}


def delivers_its_output(planned: PlannedHop) -> bool:
    """Whether a hop is a deposit whose output a wallet gets as it is.

    One that is due the wrapped coin would get the coin itself, which is another token.
    """
    out = planned.hop.token_out
    return planned.hop.protocol == "across" and out != wrap_token(CHAINS[out.chain_id].native_token)


def get_spoke_pool(chain_id: int, terms: Terms) -> str:
    """Return the pool of a chain.

    Raises
    ------
    CannotBuild
        If the service that confirmed the deposit names another.
    """
    (pool,) = (facts.get_address("spoke_pool") for facts in read_deployments("across", chain_id))
    if terms.firm["spokePoolAddress"] != pool:
        raise CannotBuild(f"the service names {terms.firm['spokePoolAddress']} as its pool, known is {pool}")
    return pool


def get_relayer(terms: Terms) -> str:
    """Return who alone may fill a deposit on these terms; empty where anybody may."""
    relayer = str(terms.firm["exclusiveRelayer"]).lower()
    return "" if relayer == ZERO_ADDRESS else relayer


def _find_deposit(hops: tuple[PlannedHop, ...]) -> PlannedHop | None:
    """Return the only hop that is not the coin's wrapping before it."""
    rest = hops[1:] if len(hops) > 1 and hops[0].hop.protocol == WRAP and hops[0].hop.token_in.is_native else hops
    return rest[0] if len(rest) == 1 else None


def _read(pool: str, calldata: bytes) -> DecodedPayment | None:
    plain, words = read_arguments(DEPOSIT, calldata), read_arguments(DEPOSIT_OF_WORDS, calldata)
    if plain is not None:
        (_, recipient, token, _, amount, *_), reference = plain
    elif words is not None:
        (_, to, sold, _, amount, *_), reference = words
        recipient, token = read_address(to), read_address(sold)
    else:
        return None
    return DecodedPayment(
        contract=pool, token_address=token, recipient=recipient, amount=amount, is_deposit=True, reference=reference
    )
