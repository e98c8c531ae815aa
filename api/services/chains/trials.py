"""What comes before a wallet signs: the bridge is asked again, funds are counted, and allowances are read.

Orders and routes share it, so that nobody is offered anything that was tried in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.transactions.base import PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.paths import WRAP
from adapters.transactions.simulation import PaymentChain
from routing_engine import Token
from routing_engine.fixed_point import mul_div_up
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from api.services.chains.chain_access import Firm
    from routing_engine import Hop, Market

ROUNDINGS = 2
"""What a bridge may round away of a deposit that was made larger in proportion, smallest units."""


class BridgeAsksMore(Exception):
    """The bridge delivers less by now than it has to."""


def plan_hop(hop: Hop, market: Market) -> PlannedHop:
    """Return a hop with what its market's contracts want to be told."""
    fee_pips, tick_spacing = (int(getattr(market, field, 0)) for field in ("fee_pips", "tick_spacing"))
    return PlannedHop(hop=hop, fee_pips=fee_pips, tick_spacing=tick_spacing)


def find_bridge(hops: tuple[PlannedHop, ...]) -> PlannedHop | None:
    """Return the hop over a bridge, of which one call has at most one."""
    bridges = [planned for planned in hops if planned.hop.is_bridge]
    if not bridges:
        return None
    (bridge,) = bridges
    return bridge


def is_swapped(hops: tuple[PlannedHop, ...]) -> bool:
    """Whether anything is swapped in a call: on its chain, or before it is put into a bridge."""
    return any(not planned.hop.is_bridge and planned.hop.protocol != WRAP for planned in hops)


def confirm_bridge(
    firm: Firm, hops: tuple[PlannedHop, ...], terms: Terms, *, first: int, largest: int
) -> tuple[tuple[PlannedHop, ...], Terms]:
    """Ask the bridge of a call for its present terms; the deposit grows as far as it may.

    It is the input itself, or what swaps make of the input, which then may need all that the terms allow. Where all of
    the input is to be spent, what the bridge confirms is what must arrive.

    Parameters
    ----------
    first, largest : int
        The deposit to begin with, and the largest one, smallest units of what the bridge takes.

    Raises
    ------
    BridgeAsksMore
        If even the largest deposit delivers too little.
    AdapterError
        If the bridge does not answer, or declines.
    """
    bridge = find_bridge(hops)
    if bridge is None:
        return hops, terms
    amount = first
    for is_first in (True, False, False):
        asked = replace(bridge.hop, amount_in=amount)
        told = firm.confirm(asked, sender=terms.payer, recipient=terms.recipient)
        if told.hop.amount_out >= terms.amount_out:
            firm_hops = tuple(replace(each, hop=told.hop) if each is bridge else each for each in hops)
            most = terms.amount_in_max if is_swapped(hops) else amount
            out = told.hop.amount_out if terms.spends_all else terms.amount_out
            return firm_hops, replace(terms, amount_in_max=most, amount_out=out, firm=told.terms)
        if amount == largest:
            break
        enough = mul_div_up(amount, terms.amount_out, max(1, told.hop.amount_out)) + ROUNDINGS
        amount = min(largest, enough) if is_first else largest
    raise BridgeAsksMore


def list_needs(call: PaymentCall, token: Token, amount_in_max: int) -> Mapping[Token, int]:
    """Return what a wallet must have for a call, gas not counted: the token it spends, and the coin sent along."""
    coin = CHAINS[call.chain_id].native_token
    return {coin: call.value} if token.is_native else {token: amount_in_max, coin: call.value}


def read_allowances(chain: PaymentChain, spending: Spending | None, payer: str) -> tuple[int, int]:
    """Return what the spender may take now, and what it takes for its user; zero where there is none.

    Raises
    ------
    AdapterError
        If the chain or the token's contract does not answer.
    """
    if spending is None:
        return 0, 0
    granted = chain.read_granted(spending, payer) if spending.user else 0
    return chain.read_allowance(spending, payer), granted
