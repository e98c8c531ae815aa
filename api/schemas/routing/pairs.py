"""Two tokens and an amount: what routes and quotes are asked for, under their different names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load, validates_schema

from api.context import get_resources
from api.schemas.base import BaseSchema
from api.services.market.market import MarketService
from api.services.routing.query import ANSWER_WORK, RouteQuery, choose_slippage_bps
from routing_engine import RouteRequest, Side

DEFAULT_SPLITS = 5
"""Paths side by side; each further one is something more for the customer to sign or pay gas for."""

ENDS = (("from_chain", "from_token"), ("to_chain", "to_token"))


class PairSchema(BaseSchema):
    """Turns checked properties into a `RouteQuery`.

    A subclass declares the fields `from_chain`, `to_chain`, `from_token`, `to_token`, `amount_in` and `amount_out`
    under the names of its endpoint. `amount_in_names` and `amount_out_names` are all names under which these may come.
    """

    amount_in_names: ClassVar[tuple[str, ...]]
    amount_out_names: ClassVar[tuple[str, ...]]

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_together(self, data: Mapping[str, Any], original: Mapping[str, Any], **_: object) -> None:
        """Check what one property says in the light of others and of the market; every fault is named at once."""
        market = get_resources().market
        faults = dict(self._amount_faults(original))
        faults |= self._token_faults(data, market)
        faults |= _protocol_faults(data, market)
        if faults:
            raise ValidationError({name: [message] for name, message in faults.items()})

    @post_load
    def make_query(self, data: Mapping[str, Any], **_: object) -> RouteQuery:
        """Build the query."""
        market = get_resources().market
        token_in, token_out = (market.token(data[chain], data[token]) for chain, token in ENDS)
        if token_in is None or token_out is None:
            raise ValidationError("The market has just changed; send the request again")
        exact_out = "amount_out" in data
        options = {name: data[name] for name in ("order", "max_hops", "alternatives") if name in data}
        request = RouteRequest(
            token_in=token_in,
            token_out=token_out,
            amount=data["amount_out" if exact_out else "amount_in"],
            side=Side.EXACT_OUT if exact_out else Side.EXACT_IN,
            allow_protocols=data.get("allow_protocols"),
            deny_protocols=data.get("deny_protocols", frozenset()),
            max_splits=data.get("max_splits", DEFAULT_SPLITS),
            time_budget_ms=None,
            work_budget=ANSWER_WORK,
            **options,
        )
        return RouteQuery(
            request=request, slippage_bps=data.get("slippage_bps", choose_slippage_bps(token_in, token_out))
        )

    def _amount_faults(self, original: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        amount_in, amount_out = self._wire_name("amount_in"), self._wire_name("amount_out")
        has_in, has_out = (
            any(name in original for name in names) for names in (self.amount_in_names, self.amount_out_names)
        )
        if not has_in and not has_out:
            yield amount_in, "Required"
        if has_in and has_out:
            yield amount_out, f"Give either this or {amount_in}, not both"

    def _token_faults(self, data: Mapping[str, Any], market: MarketService) -> dict[str, str]:
        faults, found = {}, []
        for chain, token in ENDS:
            if chain in data and token in data:
                found.append(market.token(data[chain], data[token]))
                if found[-1] is None:
                    faults[self._wire_name(token)] = f"Unknown token on chain {data[chain]}; GET /v1/tokens lists all"
        if len(found) == len(ENDS) and found[0] is not None and found[0] == found[1]:
            faults[self._wire_name("to_token")] = "The same token on the same chain as the source; choose another"
        return faults

    def _wire_name(self, name: str) -> str:
        return self.fields[name].data_key or name


def _protocol_faults(data: Mapping[str, Any], market: MarketService) -> dict[str, str]:
    """Refuse names that no market has: a misspelt one would allow or deny nothing."""
    faults = {}
    for name, wire_name in (("allow_protocols", "allowProtocols"), ("deny_protocols", "denyProtocols")):
        known = market.router.graph.protocols if data.get(name) else frozenset()
        unknown = sorted(data.get(name, frozenset()) - known)
        if unknown:
            faults[wire_name] = f"Unknown protocol {unknown[0]!r}; use any of {', '.join(sorted(known))}"
    return faults
