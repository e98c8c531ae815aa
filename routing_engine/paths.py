"""Paths, and a network of hops seen as paths that run in parallel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from routing_engine.model import Hop, Token
from routing_engine.values import seal

START = -1
"""Stands before the first hops, as the number of hops stands after the last."""

FINE = 2**64
"""Paths share amounts in proportions that are known to this part of a unit."""

Link = tuple[int, int]
"""Two hops by their numbers: the second spends what the first gave, or a part of it."""

Strand = tuple[tuple[int, ...], Fraction, Fraction]
"""A path as far as it goes: the numbers of its hops, what it took at the start, and what that has become."""


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Path:
    """Hops in series: each spends what the one before gave."""

    hops: tuple[Hop, ...]

    @property
    def amount_in(self) -> int:
        """What the first hop takes."""
        return self.hops[0].amount_in

    @property
    def amount_out(self) -> int:
        """What the last hop gives."""
        return self.hops[-1].amount_out

    def __str__(self) -> str:
        words = [str(self.hops[0].token_in)]
        for hop in self.hops:
            words += [f"-[{hop.protocol}]->", str(hop.token_out)]
        return " ".join(words)

    def __repr__(self) -> str:
        received = self.hops[-1].token_out.show(self.amount_out)
        return f"Path({self.hops[0].token_in.show(self.amount_in)} → {received}; {self})"


def decompose(hops: tuple[Hop, ...], token_in: Token, token_out: Token) -> tuple[Path, ...]:
    """Return a network of hops as parallel paths; see `routing_engine.route.Route.paths`.

    Parameters
    ----------
    hops : tuple of Hop
        In an order in which they can run. What arrives at a token between the ends is spent there, to the unit.
    token_in, token_out : Token
        The ends.

    Notes
    -----
    At each token, what the hops before gave is linked to what the hops after spend, unit by unit. A hop gives each of
    the paths that meet in it the same price. So the links are a flow with gains, and it is a sum of paths, at most as
    many as there are links (Ahuja, Magnanti, Orlin: *Network flows*, 1993, chapter 15).
    """
    links = _link_hops(hops, token_in, token_out)
    weights: dict[Link, dict[int, int]] = {link: {} for link in links}  # of each path that uses a link
    weights_in: list[dict[int, int]] = [{} for _ in hops]
    strands = sorted(_list_strands(links, hops))  # for one order among paths of one size
    for number, (places, amount, _) in enumerate(strands):
        for before, after in pairwise(places):
            weights[before, after][number] = weight = max(1, int(amount * FINE))
            if after < len(hops):
                weights_in[after][number] = weight
                amount *= Fraction(hops[after].amount_out, hops[after].amount_in)
    carried = {link: _divide(amount, weights[link]) for link, amount in links.items()}
    parts = [_divide_costs(hop, each) for hop, each in zip(hops, weights_in, strict=True)]
    paths = []
    for number, (places, _, _) in enumerate(strands):
        amounts = pairwise(carried[link][number] for link in pairwise(places))
        shown = [
            replace(parts[place][number], amount_in=amount_in, amount_out=amount_out)
            for place, (amount_in, amount_out) in zip(places[1:-1], amounts, strict=True)
        ]
        if shown[0].amount_in:  # a share of less than a unit is no path
            paths.append(Path(tuple(shown)))
    return tuple(sorted(paths, key=lambda path: -path.amount_in))


def _link_hops(hops: tuple[Hop, ...], token_in: Token, token_out: Token) -> dict[Link, int]:
    """Return the amount that each link carries. What hops give, and what they spend, is the sum of their links."""
    given: dict[Token, dict[int, int]] = {token_in: {START: sum(h.amount_in for h in hops if h.token_in == token_in)}}
    spent: dict[Token, dict[int, int]] = {}
    for place, hop in enumerate(hops):
        given.setdefault(hop.token_out, {})[place] = hop.amount_out
        spent.setdefault(hop.token_in, {})[place] = hop.amount_in
    spent[token_out] = {len(hops): sum(given[token_out].values())}
    links = {}
    for token, takers in spent.items():
        givers = given[token]
        while givers and takers:
            giver, taker = max(givers, key=lambda place: givers[place]), max(takers, key=lambda place: takers[place])
            links[giver, taker] = amount = min(givers[giver], takers[taker])
            for side, place in ((givers, giver), (takers, taker)):
                side[place] -= amount
                if not side[place]:
                    del side[place]
    return links


def _list_strands(links: Mapping[Link, int], hops: tuple[Hop, ...]) -> list[Strand]:
    """Follow the units from the start on: strands grow by a hop at a time, and are cut where a link is full."""
    onward: dict[int, list[Link]] = {}
    for link in sorted(links, key=lambda link: -links[link]):
        onward.setdefault(link[0], []).append(link)
    amount_in = Fraction(sum(amount for (before, _), amount in links.items() if before == START))
    arrived: dict[int, list[Strand]] = {START: [((START,), amount_in, amount_in)]}
    for place in range(START, len(hops)):
        price = Fraction(hops[place].amount_out, hops[place].amount_in) if place != START else Fraction(1)
        here = [(places, start, amount * price) for places, start, amount in reversed(arrived[place])]
        for link in onward[place]:
            for places, start, amount in _cut_off(here, Fraction(links[link])):
                arrived.setdefault(link[1], []).append(((*places, link[1]), start, amount))
    return arrived[len(hops)]


def _cut_off(strands: list[Strand], amount: Fraction) -> Iterator[Strand]:
    """Take strands of an amount together from the end of a list; the last may be cut in two."""
    while amount:
        places, start, most = strands.pop()
        if most > amount:
            rest = most - amount
            strands.append((places, start * rest / most, rest))
            start, most = start * amount / most, amount
        yield places, start, most
        amount -= most


def _divide_costs(hop: Hop, weights: Mapping[int, int]) -> dict[int, Hop]:
    """Return the hop once for each path that uses it, with that part of its gas and of each fee."""
    if len(weights) == 1:
        return dict.fromkeys(weights, hop)
    gas, fees = _divide(hop.gas, weights), [(fee, _divide(fee.amount, weights)) for fee in hop.fees]
    return {
        number: replace(hop, gas=gas[number], fees=tuple(replace(fee, amount=parts[number]) for fee, parts in fees))
        for number in weights
    }


def _divide(amount: int, weights: Mapping[int, int]) -> dict[int, int]:
    """Divide an amount in the proportions of weights, each part rounded down but the last: no unit is lost."""
    parts, waiting = {}, sum(weights.values())
    for key, weight in weights.items():
        parts[key] = amount * weight // waiting
        amount -= parts[key]
        waiting -= weight
    return parts
