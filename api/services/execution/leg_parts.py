"""What legs are made of: a route's steps, and of a step that wraps the coin for several paths a part for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.transactions.base import PlannedHop
from adapters.transactions.paths import WRAP
from routing_engine import Token

if TYPE_CHECKING:
    from adapters.transactions.payment_builders import PaymentBuilders

Place = tuple[Token, int | None]
"""Where parts meet: a token, and the step whose path alone goes through there, if one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegPart:
    """A step of a route, or what one path takes of it.

    Parameters
    ----------
    step : int
        Which, counted from 0.
    planned : PlannedHop
        The same as a hop.
    begins, ends : Place
        Where its input comes from, and where its output goes.
    """

    step: int
    planned: PlannedHop
    begins: Place
    ends: Place


def list_parts(planned: Sequence[PlannedHop], builders: PaymentBuilders) -> list[LegPart]:
    """Return the parts of a route's steps, in their order.

    A route wraps what all its paths need in one step. It gives one for one, so each path can wrap its own in the call
    that swaps it. Else the wrapping alone could be signed at first, and nothing would hold the rest to its terms.
    """
    parts = [
        LegPart(step=step, planned=each, begins=(each.hop.token_in, None), ends=(each.hop.token_out, None))
        for step, each in enumerate(planned)
    ]
    for wrap in [part for part in parts if part.planned.hop.protocol == WRAP]:
        parts = _share(parts, wrap, builders)
    return parts


def _share(parts: list[LegPart], wrap: LegPart, builders: PaymentBuilders) -> list[LegPart]:
    """Return the parts, with one for each path in the place of `wrap` where it serves several."""
    before = [each for each in parts if each.ends == wrap.begins]
    after = [each for each in parts if each.begins == wrap.ends]
    serves_several = len(after) > 1 and [each for each in parts if each.ends == wrap.ends] == [wrap]
    if serves_several and any(builders.can_build((wrap.planned, each.planned)) for each in after):
        return list(_wrap_before(parts, wrap, after))
    ends_several = len(before) > 1 and [each for each in parts if each.begins == wrap.begins] == [wrap]
    if ends_several and any(builders.can_build((each.planned, wrap.planned)) for each in before):
        return list(_wrap_after(parts, wrap, before))
    return parts


def _wrap_before(parts: Sequence[LegPart], wrap: LegPart, after: Sequence[LegPart]) -> Iterator[LegPart]:
    """Yield the parts, each of those after a wrapping with its own before it."""
    for part in parts:
        place = wrap.ends[0], part.step
        if part in after:
            yield replace(wrap, planned=_wrap(wrap.planned, part.planned.hop.amount_in), ends=place)
            yield replace(part, begins=place)
        elif part is not wrap:
            yield part


def _wrap_after(parts: Sequence[LegPart], wrap: LegPart, before: Sequence[LegPart]) -> Iterator[LegPart]:
    """Yield the parts, each of those before a wrapping with its own after it."""
    for part in parts:
        place = wrap.begins[0], part.step
        if part in before:
            yield replace(part, ends=place)
            yield replace(wrap, planned=_wrap(wrap.planned, part.planned.hop.amount_out), begins=place)
        elif part is not wrap:
            yield part


def _wrap(planned: PlannedHop, amount: int) -> PlannedHop:
    return replace(planned, hop=replace(planned.hop, amount_in=amount, amount_out=amount))
