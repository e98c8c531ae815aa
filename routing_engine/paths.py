"""Paths, and a network of hops seen as paths that run in parallel."""

from __future__ import annotations

from dataclasses import dataclass, replace

from routing_engine.model import Hop, Token

NEGLIGIBLE = 1e-9
"""A part of a hop that is not worth a path of its own."""


@dataclass(frozen=True, slots=True)
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


def decompose(hops: tuple[Hop, ...], token_in: Token, token_out: Token) -> tuple[Path, ...]:
    """Return a network of hops as parallel paths; see `routing_engine.route.Route.paths`."""
    rest = [1.0] * len(hops)  # the part of each hop that no path has taken yet
    strands: list[tuple[tuple[int, ...], float]] = []
    while True:
        strand, token = [], token_in
        while token != token_out:
            onward = [i for i, hop in enumerate(hops) if hop.token_in == token and rest[i] > NEGLIGIBLE]
            if not onward:
                break
            strand.append(max(onward, key=lambda i: hops[i].amount_in * rest[i]))
            token = hops[strand[-1]].token_out
        if not strand or token != token_out:
            break
        # Walking the strand with one unit of the first hop tells how much of each hop it can take.
        carried, most = 1.0, 1.0
        shares = []
        for i in strand:
            share = carried * hops[strand[0]].amount_in / hops[i].amount_in
            shares.append(share)
            most = min(most, rest[i] / share if share else most)
            carried = share * hops[i].amount_out / hops[strand[0]].amount_in
        for i, share in zip(strand, shares, strict=True):
            rest[i] = max(0.0, rest[i] - share * most)
        strands.append((tuple(strand), most))
    return _as_paths(hops, strands)


def _as_paths(hops: tuple[Hop, ...], strands: list[tuple[tuple[int, ...], float]]) -> tuple[Path, ...]:
    """Divide each hop's integers between its strands by their sizes at the start; the last takes what is left."""
    left = {i: (hop.amount_in, hop.amount_out) for i, hop in enumerate(hops)}
    waiting = {i: [n for n, (strand, _) in enumerate(strands) if i in strand] for i in left}
    sizes = [hops[strand[0]].amount_in * part for strand, part in strands]
    paths = []
    for number, (strand, _) in enumerate(strands):
        shown = []
        for i in strand:
            users = waiting[i]
            amount_in, amount_out = left[i]
            if len(users) > 1:
                part = sizes[number] / sum(sizes[n] for n in users)
                amount_in, amount_out = int(amount_in * part), int(amount_out * part)
            left[i] = (left[i][0] - amount_in, left[i][1] - amount_out)
            users.remove(number)
            whole = amount_in == hops[i].amount_in
            shown.append(hops[i] if whole else replace(hops[i], amount_in=amount_in, amount_out=amount_out))
        paths.append(Path(tuple(shown)))
    return tuple(sorted(paths, key=lambda path: -path.amount_in))
