"""Firm quotes: before somebody pays over a bridge, whoever knows that bridge is asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from adapters.base import Client, Declined, FirmQuote, FirmQuotes, VenueUnavailable
from adapters.feed.connect import connect
from adapters.feed.plan import Plan
from adapters.installed import load_installed
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.reading import Responder
from adapters.rpc.responder import ChainClient
from routing_engine.fixed_point import WAD, mul_div_up, rescale_up
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges.lane import LaneFee
from routing_engine.model import Hop

UNNAMED = "bridge_fee"
"""What a bridge keeps without saying for what."""


class FirmQuoter:
    """Knows whom to ask for which protocol.

    Parameters
    ----------
    adapters : iterable of FirmQuotes
        Those of bridges.
    """

    def __init__(self, adapters: Iterable[FirmQuotes]) -> None:
        self._by_protocol = {protocol: adapter for adapter in adapters for protocol in adapter.protocols}

    @classmethod
    def from_plan(cls, plan: Plan, http: Client) -> FirmQuoter:
        """Return the quoter for the adapters of a plan, and for bridges whose contracts say what they give."""
        adapters = (source.adapter for source in connect(plan, http))
        bridges = [adapter for adapter in adapters if isinstance(adapter, FirmQuotes)]
        read_newest = _Chains(plan.rpc_urls).read_newest
        return cls([*bridges, *(make_quotes(read_newest) for make_quotes in load_installed("firm_quotes").values())])

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for the very amount and addresses of a hop, now; see `FirmQuotes.confirm`.

        A hop within a chain is what its transaction makes of it, and cannot be confirmed: `Declined`.
        """
        adapter = self._by_protocol.get(hop.protocol)
        if adapter is None:
            raise Declined(f"{hop.protocol}: nobody confirms its hops", status=200)
        return adapter.confirm(hop, sender=sender, recipient=recipient)


def confirm_lane(lane: BridgeLane, told: Hop) -> BridgeLane | None:
    """Return a lane that gives for one amount just what its bridge has confirmed, and for others in proportion.

    Fees keep the names under which they were told, as far as they explain what is received.

    Parameters
    ----------
    told : Hop
        Over this lane, as confirmed.

    Returns
    -------
    BridgeLane or None
        None where no fees give this, as where more would be received than was sent.
    """
    token_in, token_out = lane.token_in, lane.token_out
    taken = told.amount_in - rescale_up(told.amount_out, token_out.decimals, token_in.decimals)
    named = [(fee.name, fee.amount) for fee in told.fees if fee.included and fee.token == token_in]
    rest = taken - sum(amount for _, amount in named)
    charges = [*named, (UNNAMED, rest)] if rest > 0 else named if rest == 0 else [(UNNAMED, taken)]
    if taken < 0 or told.amount_in <= taken:
        return None
    rates = [amount * WAD // told.amount_in for _, amount in charges]
    flat = taken - mul_div_up(told.amount_in, sum(rates), WAD)
    fees = [LaneFee(name=name, rate_e18=rate) for (name, _), rate in zip(charges, rates, strict=True)]
    fees += [LaneFee(name=UNNAMED, flat=flat)] if flat else []
    confirmed = replace(
        lane,
        fees=tuple(fees),
        max_amount_in=max(lane.max_amount_in, told.amount_in),
        min_amount_in=min(lane.min_amount_in, told.amount_in),
        fill_time_s=told.fill_time_s,
        gas=told.gas,
    )
    given = confirmed.swap_exact_in(token_in, token_out, told.amount_in)[0].amount_out
    return confirmed if given == told.amount_out else None


class _Chains:
    """The chains of a plan, each read through one pool of endpoints."""

    def __init__(self, rpc_urls: Mapping[int, tuple[str, ...]]) -> None:
        self._pools = {chain_id: RpcPool(chain_id, urls) for chain_id, urls in rpc_urls.items()}
        self._readers = {chain_id: ChainClient(pool) for chain_id, pool in self._pools.items()}

    def read_newest(self, chain_id: int) -> Responder:
        """Return who answers as of the chain's newest block."""
        if chain_id not in self._pools:
            raise VenueUnavailable(f"chain {chain_id}: no endpoint is configured")
        return self._readers[chain_id].answer_at(self._pools[chain_id].read_head())
