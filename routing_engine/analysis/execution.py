"""How much better a settled trade could have been: at least by what was found, at most by what is proven."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from routing_engine.certificate import PRECISION, Certificate
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts, describe_ends
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.resolution import resolve
from routing_engine.route import Route
from routing_engine.router import Router
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class SettledTrade:
    """What somebody traded.

    Parameters
    ----------
    token_in, token_out : Token or str
        What was sold and bought, on one chain; names are looked up in the market.
    amount_in, amount_out : int
        What left and what arrived, in smallest units.
    gas : int or None
        Gas units that its transaction used; None where that is not known: then no gas counts on either side.
    name : str
        What the trade is called in tables, such as the hash of its transaction.
    """

    token_in: Token | str
    token_out: Token | str
    amount_in: int
    amount_out: int
    gas: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for field, least in (("amount_in", 1), ("amount_out", 0), ("gas", 0)):
            value = getattr(self, field)
            if value is None and field == "gas":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidRequest(field, f"must be an int of at least {least}, not {value!r}")


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A trade beside the best that its market had to offer; all amounts in smallest units of what was bought.

    Parameters
    ----------
    trade : SettledTrade
        What was traded; its tokens are those of the market.
    best : Route or None
        The best route found for the same input, exact; None where there is none.
    certificate : Certificate or None
        Which routes `most_net` speaks of.
    got_net, best_net : int
        What the trade brought, and what the best route gives, less gas where that counts.
    most_net : int or None
        What no route nets more than; None where nothing is proven.
    """

    trade: SettledTrade
    best: Route | None
    certificate: Certificate | None
    got_net: int
    best_net: int
    most_net: int | None

    @property
    def at_least(self) -> int:
        """How much more the trade could have brought for sure: that route was there. 0 where none better was found."""
        return max(0, self.best_net - self.got_net) if self.best else 0

    @property
    def at_most(self) -> int | None:
        """How much more any route could have brought; None where nothing is proven."""
        return None if self.most_net is None else max(0, self.most_net - self.got_net)

    @property
    def at_least_bps(self) -> float:
        """`at_least` in bps of what the trade brought; NaN where that is nothing."""
        return self._count_bps(self.at_least)

    @property
    def at_most_bps(self) -> float:
        """`at_most` in bps of what the trade brought; NaN where nothing is proven."""
        return math.nan if self.at_most is None else self._count_bps(self.at_most)

    @property
    def is_beyond_market(self) -> bool:
        """Whether it brought more than any route over these markets could: it used others, or a later state."""
        return self.most_net is not None and self.got_net > self.most_net

    def _count_bps(self, amount: int) -> float:
        return amount / self.got_net * BPS if self.got_net > 0 else math.nan

    def __repr__(self) -> str:
        token = self.trade.token_out
        shown = f"{token.show(self.at_least)} ({self.at_least_bps:,.2f} bps)" if isinstance(token, Token) else ""
        most = "an unknown amount" if self.at_most is None else f"{self.at_most_bps:,.2f} bps"
        return f"Execution({shown} better at least, {most} at most)"


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Executions(Table):
    """Judged trades; as a table, a row for each."""

    executions: tuple[Execution, ...]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each trade; see `Table`."""
        rows = self.executions
        ends = [(_as_token(row.trade.token_in), _as_token(row.trade.token_out)) for row in rows]
        given, taken = [end[0] for end in ends], [end[1] for end in ends]
        most = [row.at_most for row in rows]
        return (
            Column("trade", Kind.TEXT, [row.trade.name for row in rows]),
            Column("at_least_bps", Kind.NUMBER, [row.at_least_bps for row in rows], unit="bps"),
            Column("at_most_bps", Kind.NUMBER, [row.at_most_bps for row in rows], unit="bps"),
            *describe_amounts("at_least", [row.at_least for row in rows], taken),
            *describe_amounts("at_most", [each or 0 for each in most], taken),
            *describe_amounts("got_net", [row.got_net for row in rows], taken),
            *describe_amounts("best_net", [row.best_net for row in rows], taken),
            *describe_amounts("amount_in", [row.trade.amount_in for row in rows], given),
            *describe_amounts("amount_out", [row.trade.amount_out for row in rows], taken),
            *describe_ends(ends),
            Column("is_bounded", Kind.FLAG, [each is not None for each in most]),
            Column("is_beyond_market", Kind.FLAG, [row.is_beyond_market for row in rows]),
            Column("gas_counts", Kind.FLAG, [row.trade.gas is not None for row in rows]),
            Column("markets", Kind.COUNT, [len(row.best.hops) if row.best else 0 for row in rows]),
        )

    def __repr__(self) -> str:
        better = sum(row.at_least > 0 for row in self.executions)
        return f"Executions({len(self.executions)} trades, {better} could have been better)"


def judge_trade(router: Router, trade: SettledTrade, **options: Any) -> Execution:
    """Hold a settled trade against the market that it met.

    Parameters
    ----------
    router : Router
        On the market of the block before the trade's: what earlier transactions of its own block did is not in it.
    trade : SettledTrade
        What was traded.
    **options
        Further fields of `RouteRequest`, such as ``max_hops``, or ``gas_prices`` at which the trade was sent.

    Raises
    ------
    InvalidRequest
        If a token is unknown, the trade crosses chains, or an option is none, or is the amount or the side.
    """
    for field in {"amount", "side", "token_in", "token_out", "certify"} & options.keys():
        raise InvalidRequest(field, "is not for the caller to choose: it is the trade's, or must be")
    prices = dict(options.pop("gas_prices", None) or {})
    if trade.gas is None:
        prices = dict.fromkeys(router.graph.chains, 0)
    request = RouteRequest(
        token_in=trade.token_in, token_out=trade.token_out, amount=trade.amount_in, gas_prices=prices, **options
    )
    request = resolve(request, router.snapshot, router.graph)
    if request.token_in.chain_id != request.token_out.chain_id:
        raise InvalidRequest("token_out", "is on another chain than token_in; judge what was traded on each by itself")
    result = router.find_routes(request)
    best, certificate = (result.routes[0], result.certificate) if result.routes else (None, None)
    got_net = trade.amount_out - _value_gas(router, request, trade.gas or 0)
    return Execution(
        trade=replace(trade, token_in=request.token_in, token_out=request.token_out),
        best=best,
        certificate=certificate,
        got_net=got_net,
        best_net=best.amount_out_net if best else 0,
        most_net=_bound(best, certificate),
    )


def judge_trades(router: Router, trades: Iterable[SettledTrade], **options: Any) -> Executions:
    """Hold several trades against one market, each by itself; see `judge_trade`."""
    found: Sequence[Execution] = [judge_trade(router, trade, **options) for trade in trades]
    return Executions(tuple(found))


def _bound(best: Route | None, certificate: Certificate | None) -> int | None:
    """Return what no route nets more than, rounded up: the gap is a part of it."""
    if best is None or certificate is None or certificate.gap_bps is None or certificate.gap_bps >= BPS:
        return None
    return max(best.amount_out_net, math.ceil(best.amount_out_net / (1 - certificate.gap_bps / BPS) * (1 + PRECISION)))


def _value_gas(router: Router, request: RouteRequest, gas: int) -> int:
    """Return what gas units are worth in the token that was bought, rounded up, as routes count it."""
    if not gas:
        return 0
    prices = {**router.snapshot.gas_prices, **(request.gas_prices or {})}
    graph = router.graph
    cost = Valuation(graph, prices).gas_cost[graph.chain_number[request.token_out.chain_id]]
    price = float(graph.prices[graph.index[request.token_out]])
    return math.ceil(gas * float(cost) / price) if price > 0 else 0


def _as_token(token: Token | str) -> Token:
    if isinstance(token, Token):
        return token
    raise InvalidRequest("trade", f"{token!r} is a name; trades in tables are judged ones")
