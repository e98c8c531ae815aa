"""Routes of the engine as the interface shows them: every amount the engine's own, to the unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from api.domain.clock import format_time
from api.domain.ids import IdPrefix, make_id
from api.services.routing.query import BPS, RouteQuery
from api.services.routing.token_serializers import Asset
from routing_engine import Certificate, Fee, Hop, Route
from routing_engine.reference.chains import CHAINS, block_time_s

VALID_FOR = timedelta(seconds=60)
GAS = "gas"
GAP_DIGITS = 4
"""Behind the point of a proven gap in 1/10000: two processors may differ in the last ones of a float."""
NOT_JUDGED = "alternatives are not judged"

IsFirm = Callable[[Hop], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteWriter:
    """Writes the routes of one search.

    Parameters
    ----------
    query : RouteQuery
        What was asked.
    snapshot_id : str
        What was searched.
    gas_prices : mapping of int to int
        Wei per gas unit by chain id; gas of a chain that is missing is not itemised.
    at : datetime
        Moment of the answer.
    tokens : dict of str to dict
        Every token object by its key; filled while routes are written, where the query wants each token once.
    is_firm : callable or None
        Whether the bridge of a hop has confirmed it; None where none was asked.
    """

    query: RouteQuery
    snapshot_id: str
    gas_prices: Mapping[int, int]
    at: datetime
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_firm: IsFirm | None = None

    def route(self, route: Route, certificate: Certificate | None = None) -> dict[str, Any]:
        """Return the interface's route, under a new id; `certificate` is what was proven of it."""
        gap_bps = certificate.gap_bps if certificate else None
        all_flows_gap_bps = certificate.all_flows_gap_bps if certificate else None
        return {
            "id": make_id(IdPrefix.ROUTE, self.at),
            "steps": self.steps(route),
            "estimatedTime": str(route.fill_time_s),
            "totalFees": self.total_fees(route),
            "inputAmount": str(route.amount_in),
            "inputAmountMax": str(self.query.most_in(route.amount_in)),
            "outputAmount": str(route.amount_out),
            "outputAmountMin": str(self.query.least_out(route.amount_out)),
            "priceImpactBps": round(route.price_impact * BPS),
            "gas": str(route.gas),
            "expiresAt": format_time(self.at + VALID_FOR),
            "snapshotId": self.snapshot_id,
            "optimalityGapBps": None if gap_bps is None else round(gap_bps, GAP_DIGITS),
            "optimalityGapScope": None if gap_bps is None or certificate is None else certificate.scope,
            "optimalityGapAllFlowsBps": None if all_flows_gap_bps is None else round(all_flows_gap_bps, GAP_DIGITS),
            "optimalityGapReason": certificate.reason if certificate else NOT_JUDGED,
        }

    def steps(self, route: Route) -> list[dict[str, Any]]:
        """Return the hops in an order in which they can run."""
        return [self._step(hop, time_s) for hop, time_s in _describe_timed(route)]

    def total_fees(self, route: Route) -> list[dict[str, Any]]:
        """Sum the fees of all steps by currency, wherever it lies."""
        sums: dict[str, int] = {}
        assets: dict[str, Asset] = {}
        for hop in route.hops:
            for fee in self._fees(hop):
                asset = Asset.of(fee.token)
                assets[asset.key] = asset
                sums[asset.key] = sums.get(asset.key, 0) + fee.amount
        return [{"amount": str(amount), "currency": self._token(assets[key])} for key, amount in sums.items()]

    def _step(self, hop: Hop, time_s: int) -> dict[str, Any]:
        firm = {"isFirm": True} if self.is_firm and hop.is_bridge and self.is_firm(hop) else {}
        return firm | {
            "protocol": hop.protocol,
            "fromToken": self._token(Asset.of(hop.token_in)),
            "toToken": self._token(Asset.of(hop.token_out)),
            "fromChainId": hop.token_in.chain_id,
            "toChainId": hop.token_out.chain_id,
            "inputAmount": str(hop.amount_in),
            "outputAmount": str(hop.amount_out),
            "estimatedTime": str(time_s),
            "fees": [self._fee(fee) for fee in self._fees(hop)],
        }

    def _fee(self, fee: Fee) -> dict[str, Any]:
        return {
            "amount": str(fee.amount),
            "currency": self._token(Asset.of(fee.token)),
            "name": fee.name,
            "included": fee.included,
        }

    def _token(self, asset: Asset) -> dict[str, Any]:
        if not self.query.tokens_once:
            return asset.json()
        if asset.key not in self.tokens:
            self.tokens[asset.key] = asset.json()
        return {"key": asset.key}

    def _fees(self, hop: Hop) -> Iterator[Fee]:
        """Yield a hop's fees and, where its price is known, the gas that its sender pays on top."""
        yield from hop.fees
        chain_id = hop.token_in.chain_id
        cost = hop.gas * self.gas_prices.get(chain_id, 0)
        if cost and chain_id in CHAINS:
            yield Fee(amount=cost, token=CHAINS[chain_id].native_token, name=GAS, included=False)


def _describe_timed(route: Route) -> Iterator[tuple[Hop, int]]:
    """Give the wait for a transaction's block to its first hops, so that the steps of each path add up."""
    begun = {route.token_in} | {hop.token_out for hop in route.hops if hop.is_bridge}
    for hop in route.hops:
        wait = block_time_s(hop.token_in.chain_id) if hop.token_in in begun else 0
        yield hop, wait + hop.fill_time_s
