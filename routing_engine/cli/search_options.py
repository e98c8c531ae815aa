"""Options of every command that searches: from what was typed to the fields of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from routing_engine.amounts import parse_decimal
from routing_engine.cli.gas_options import parse_gas_prices
from routing_engine.cli.terminal import working
from routing_engine.errors import InvalidRequest
from routing_engine.objective import OBJECTIVES
from routing_engine.request import DEFAULT_MAX_HOPS, MAX_HOPS, MAX_SPLITS

if TYPE_CHECKING:
    from routing_engine.model import Token
    from routing_engine.router import Router
    from routing_engine.snapshot.snapshot import Snapshot

_OPTIONS = (
    click.option("--gas-price-gwei", multiple=True, metavar="[CHAIN=]G", help="Gas price of all chains, or of one."),
    click.option("--order", type=click.Choice(list(OBJECTIVES)), default="cheapest", show_default=True),
    click.option(
        "--max-hops",
        type=int,
        default=DEFAULT_MAX_HOPS,
        show_default=True,
        metavar="N",
        help=f"Markets in series, 1 to {MAX_HOPS}.",
    ),
    click.option(
        "--max-splits",
        type=int,
        default=MAX_SPLITS,
        show_default=True,
        metavar="N",
        help=f"Paths in parallel, 1 to {MAX_SPLITS}.",
    ),
    click.option("--value-of-time", type=float, metavar="BPS", help="Worth of waiting an hour, in bps of the amount."),
    click.option("--max-price-impact-bps", type=float, metavar="BPS", help="Leave out routes that lose more to size."),
    click.option("--time-budget-ms", type=int, metavar="MS", help="Longest search.  [default: 30000]"),
    click.option("--work-budget", type=int, metavar="N", help="Most work; N is about milliseconds, but counted."),
    click.option("--allow", multiple=True, metavar="P", help="Use only this protocol; may be repeated."),
    click.option("--deny", multiple=True, metavar="P", help="Never use this protocol; may be repeated."),
    click.option("--allow-chains", multiple=True, type=int, metavar="ID", help="Use only this chain; may be repeated."),
    click.option(
        "--deny-chains", multiple=True, type=int, metavar="ID", help="Never pass this chain; may be repeated."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options as typed."""

    gas_price_gwei: tuple[str, ...]
    order: str
    max_hops: int
    max_splits: int
    value_of_time: float | None
    max_price_impact_bps: float | None
    time_budget_ms: int | None
    work_budget: int | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    allow_chains: tuple[int, ...]
    deny_chains: tuple[int, ...]

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> SearchOptions:
        """Take these options out of all that a command got."""
        return cls(**{name: values.pop(name) for name in cls.__slots__})

    def fields(self, market: Snapshot) -> dict[str, Any]:
        """Return the fields of `RouteRequest` that they stand for on this market.

        Raises
        ------
        InvalidRequest
            If a protocol or chain is not in the market.
        """
        from routing_engine.resolution import check_chains, check_protocols

        known = {entry.protocol for entry in market.markets.values()}
        check_protocols(self.allow, known, "--allow")
        check_protocols(self.deny, known, "--deny")
        chain_ids = {token.chain_id for token in market.tokens}
        check_chains(self.allow_chains, chain_ids, "--allow-chains")
        check_chains(self.deny_chains, chain_ids, "--deny-chains")
        budget = {} if self.time_budget_ms is None else {"time_budget_ms": self.time_budget_ms}
        return budget | {
            "order": self.order,
            "max_hops": self.max_hops,
            "max_splits": self.max_splits,
            "work_budget": self.work_budget,
            "value_of_time": self.value_of_time,
            "max_price_impact_bps": self.max_price_impact_bps,
            "allow_protocols": frozenset(self.allow) or None,
            "deny_protocols": frozenset(self.deny),
            "allow_chains": frozenset(self.allow_chains) or None,
            "deny_chains": frozenset(self.deny_chains),
            "gas_prices": parse_gas_prices(self.gas_price_gwei, chain_ids),
        }


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def find_token(market: Snapshot, name: str, option: str) -> Token:
    """Return the market's token of a name; an error names the option.

    Raises
    ------
    InvalidRequest
        If there is none, or there are several.
    """
    try:
        return market.token(name)
    except InvalidRequest as error:
        raise type(error)(option, error.message) from error


def parse_amount(text: str, token: Token) -> int:
    """Return whole tokens, as typed, in smallest units.

    Raises
    ------
    InvalidRequest
        If it is no amount, or finer than the token's smallest unit.
    """
    return parse_decimal(text, token.decimals, "--amount", str(token))


def as_option(error: InvalidRequest) -> InvalidRequest:
    """Return an error of a request's field as one of the option that the field comes from."""
    named = error.field in SearchOptions.__slots__ and error.field not in {"allow", "deny"}
    return type(error)(f"--{error.field.replace('_', '-')}" if named else error.field, error.message)


def ready_router(market: Snapshot) -> Router:
    """Prepare everything that a search needs, so that the time measured is the search's own."""
    # The id, a hash of the whole content that every result carries, is computed on this first use.
    with working(f"Preparing the search on snapshot {market.id} …"):
        from routing_engine.router import Router
        from routing_engine.warm_up import warm_up

        warm_up()
        return Router(market)
