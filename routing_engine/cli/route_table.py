"""Routes for people: hops, a summary and alternatives, within 80 columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from routing_engine.amounts import write_duration, write_exact, write_short
from routing_engine.certificate import ALL_FLOWS, Certificate
from routing_engine.cli.terminal import fact_table, plain_table
from routing_engine.fixed_point import BPS
from routing_engine.model import Fee, Hop, Token
from routing_engine.paths import Path
from routing_engine.reference.chains import CHAINS
from routing_engine.result import RouteResult
from routing_engine.route import Route, Side
from routing_engine.token_fields import printable

SYMBOL_WIDTH = 10
ID_WIDTH = 14
_LONG_HEX = re.compile(r"(0x[0-9a-fA-F]{4})[0-9a-fA-F]{8,}([0-9a-fA-F]{4})")


MOST_STEPS, MOST_FEES = 20, 6
"""Steps and kinds of fees that are shown unless all are asked for."""


def tables(result: RouteResult, search: str, *, show_all: bool = True) -> Iterator[Table | Text]:
    """Yield the summary of the best route, its steps, and the alternatives.

    Parameters
    ----------
    result : RouteResult
        With at least one route.
    search : str
        How long the search took, over what.
    show_all : bool
        Whether to show every step, and not only those that give most.
    """
    best = result.best()
    about = [("gap", _gap(result.certificate)), ("search", search), ("snapshot", result.snapshot_id)]
    yield fact_table([*_facts(best, len(best.fees) if show_all else MOST_FEES), *about])
    steps = _choose_steps(best.hops, len(best.hops) if show_all else MOST_STEPS)
    yield _hops(best, steps)
    if len(steps) < len(best.hops):
        left = len(best.hops) - len(steps)
        yield Text(f"… and {left} smaller steps of {len(best.hops)}; --all shows them", style="dim")
    if len(result.routes) > 1:
        yield _alternatives(result.routes, result.certificates)


def _choose_steps(hops: tuple[Hop, ...], most: int) -> list[int]:
    """Return the numbers of the steps with the largest part of what is spent of their token, in their order."""
    spent: Counter[Token] = Counter()
    for hop in hops:
        spent[hop.token_in] += hop.amount_in
    by_part = sorted(range(len(hops)), key=lambda step: -hops[step].amount_in / spent[hops[step].token_in])
    return sorted(by_part[:most])


def _hops(route: Route, steps: Iterable[int]) -> Table:
    title = printable(f"{route.token_in} → {route.token_out}")
    table = plain_table(title, "#", "Market", "In", "Out", "Fees", "Impact", "Gas", "Time", text_columns=2)
    table.padding = (0, 1, 0, 0)
    for step in steps:
        table.add_row(str(step + 1), *_cells(route.hops[step]))
    return table


def _cells(hop: Hop) -> Iterator[Text | str]:
    yield Text.assemble((printable(hop.protocol), "cyan"), "\n", (_id(hop), "dim"))
    yield _amount(hop.amount_in, hop.token_in)
    yield _amount(hop.amount_out, hop.token_out)
    yield Text("\n").join(_amount(amount, token) for token, amount in _by_token(hop.fees).items()) or "none"
    yield _percent(hop.price_impact)
    yield f"{hop.gas:,}"
    yield write_duration(hop.fill_time_s) if hop.is_bridge else "–"


def _facts(route: Route, most_fees: int) -> Iterator[tuple[str, Text | str]]:
    fixed_out = route.side is Side.EXACT_OUT
    yield "you pay", Text(_exact(route.amount_in, route.token_in), style="bold")
    yield "you receive", Text(_exact(route.amount_out, route.token_out), style="bold")
    yield "price", _price(route)
    yield "price impact", _percent(route.price_impact)
    crosses = any(hop.is_bridge for hop in route.hops)
    for fee in route.fees[:most_fees]:
        where = f" on {_chain(fee.token)}" if crosses else ""
        how = "" if fee.included else ", paid on top"
        yield printable(fee.name).replace("_", " "), f"{_brief(fee.amount, fee.token)}{where}{how}"
    if len(route.fees) > most_fees:
        yield "further fees", f"{len(route.fees) - most_fees} kinds; --all shows them"
    if route.gas_priced:
        cost = (route.gas_cost_in, route.token_in) if fixed_out else (route.gas_cost_out, route.token_out)
        net = (route.amount_in_gross, route.token_in) if fixed_out else (route.amount_out_net, route.token_out)
        yield "gas", f"{route.gas:,} units, about {_brief(*cost)}"
        yield ("you pay, with gas" if fixed_out else "after gas"), _exact(*net)
    else:
        yield "gas", f"{route.gas:,} units, worth unknown"
    yield "time", f"{write_duration(route.fill_time_s)}, {_transactions(route)}"


def _gap(certificate: Certificate | None) -> str:
    """Write how much better another route can be, and of which routes that is said."""
    if certificate is None:
        return "not judged"
    if certificate.gap_bps is None:
        return f"unknown: {certificate.reason}"
    gas = "gas counted" if certificate.gas_aware else "without gas"
    known = certificate.scope != ALL_FLOWS and certificate.all_flows_gap_bps is not None
    wider = f" ({certificate.shown_all_flows_gap} against all flows)" if known else ""
    return f"{certificate.shown_gap} at most, against all {certificate.shown_scope}{wider}, {gas}"


def _price(route: Route) -> str:
    """Write the price the way round that is not below one."""
    bought, paid = _symbol(route.token_out), _symbol(route.token_in)
    if 0 < route.price < 1:
        return f"{1 / route.price:,.6f} {paid} per {bought}"
    return f"{route.price:,.6f} {bought} per {paid}"


def _alternatives(routes: tuple[Route, ...], certificates: tuple[Certificate, ...]) -> Table:
    exact_out = routes[0].side is Side.EXACT_OUT
    received = "You pay" if exact_out else "You receive"
    table = plain_table("Alternatives", "#", "Route", received, "vs best", "Gas", "Time", text_columns=2)
    table.padding = (0, 1, 0, 0)
    for number, (route, certificate) in enumerate(zip_longest(routes[1:], certificates[1:]), start=1):
        words = [_words(path, crosses=any(hop.is_bridge for hop in path.hops)) for path in route.paths]
        if certificate:
            words.append(Text(f"gap {_gap(certificate)}", style="dim"))
        amount, token = (route.amount_in, route.token_in) if exact_out else (route.amount_out, route.token_out)
        table.add_row(
            str(number),
            Text("\n").join(words),
            write_short(amount, token.decimals),
            _against(route, routes[0]),
            f"{route.gas:,}",
            write_duration(route.fill_time_s),
        )
    return table


def _against(route: Route, best: Route) -> str:
    """Difference of the net amounts, in basis points of the best one's; what is worse is negative."""
    if best.net_amount == 0:
        return "–"
    gain = (route.net_amount - best.net_amount) / abs(best.net_amount) * BPS
    text = f"{-gain if route.side is Side.EXACT_OUT else gain:+,.1f}"
    return "0 bps" if float(text.replace(",", "")) == 0 else f"{text} bps"


def _words(path: Path, *, crosses: bool) -> Text:
    """Tokens on one line, protocols below; with chains where the path changes them."""
    tokens = [path.hops[0].token_in, *(hop.token_out for hop in path.hops)]
    words = [f"{_symbol(token)}@{token.chain_id}" if crosses else _symbol(token) for token in tokens]
    protocols = ", ".join(printable(hop.protocol) for hop in path.hops)
    return Text.assemble(" › ".join(words), "\n", (protocols, "dim"))


def _transactions(route: Route) -> str:
    count = len(route.legs)
    return f"{count} transaction" + ("s" if count > 1 else "")


def _by_token(fees: Iterable[Fee]) -> dict[Token, int]:
    sums: dict[Token, int] = {}
    for fee in fees:
        sums[fee.token] = sums.get(fee.token, 0) + fee.amount
    return sums


def _amount(amount: int, token: Token) -> Text:
    return Text.assemble(write_short(amount, token.decimals), "\n", (f"{_symbol(token)}@{token.chain_id}", "dim"))


def _brief(amount: int, token: Token) -> str:
    return f"{write_short(amount, token.decimals)} {_symbol(token)}"


def _exact(amount: int, token: Token) -> str:
    return f"{write_exact(amount, token.decimals)} {_symbol(token)} on {_chain(token)}"


def _chain(token: Token) -> str:
    chain = CHAINS.get(token.chain_id)
    return chain.name if chain else f"chain {token.chain_id}"


def _percent(fraction: float) -> str:
    return "<0.01%" if 0 < fraction < 1e-4 else f"{fraction:.2%}"


def _symbol(token: Token) -> str:
    text = printable(token.symbol)
    return text if len(text) <= SYMBOL_WIDTH else text[: SYMBOL_WIDTH - 1] + "…"


def _id(hop: Hop) -> str:
    """Shorten addresses, and leave out the chain and the protocol: both stand beside it."""
    text = printable(hop.market_id)
    for known in (str(hop.token_in.chain_id), hop.protocol):
        text = text.removeprefix(f"{known}:")
    text = _LONG_HEX.sub(r"\1…\2", text)
    return text if len(text) <= ID_WIDTH else text[: ID_WIDTH - 1] + "…"
