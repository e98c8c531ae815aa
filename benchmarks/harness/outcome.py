"""What came of one request to one solver, as a run keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.harness.judge import Bound, Verdict
from benchmarks.harness.replay import BrokenAnswer
from benchmarks.harness.suite import Case
from routing_engine import Side
from routing_engine.fixed_point import BPS

ANSWERED, NONE = "answered", "none"
"""Status of an answer that counts, and where the solver says that there is no route; else a `Fault`."""

AMOUNTS = ("gross", "net", "in_turn", "merged", "claimed")
MS = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One answer, judged. Amounts are smallest units, of costs for an exact output; times milliseconds.

    Parameters
    ----------
    status, detail : str
        ``answered``, ``none`` or a fault; where it is.
    gross, net, in_turn, merged, claimed, gas, swaps : int or None
        As in `Verdict`; None unless answered.
    gap_bps : float or None
        By how much the best there is can be better; None without a bound.
    above_bound : bool
        Whether it is better than what was proven to be the best.
    above_known : dict of str to float
        By how many bps it nets more than what others are known to have got.
    wall_ms, cpu_ms, warm_wall_ms, warm_cpu_ms : float or None
        Of the first call and of the fastest; None where it can't be known.
    """

    status: str
    detail: str = ""
    gross: int | None = None
    net: int | None = None
    in_turn: int | None = None
    merged: int | None = None
    claimed: int | None = None
    gas: int | None = None
    swaps: int | None = None
    gap_bps: float | None = None
    above_bound: bool = False
    above_known: dict[str, float] = field(default_factory=dict)
    wall_ms: float | None = None
    cpu_ms: float | None = None
    warm_wall_ms: float | None = None
    warm_cpu_ms: float | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it: amounts as digits, and what is not known left out."""
        found = {
            name: value for name, value in asdict(self).items() if value or (value in (0, 0.0) and value is not False)
        }
        return {name: str(value) if name in AMOUNTS else value for name, value in found.items()}

    @classmethod
    def read(cls, document: dict[str, Any]) -> Outcome:
        """Inverse of `document`."""
        return cls(**{name: int(value) if name in AMOUNTS else value for name, value in document.items()})


def describe_fault(broken: BrokenAnswer) -> Outcome:
    """Return the outcome of an answer that does not count."""
    return Outcome(status=str(broken.fault), detail=broken.detail)


def describe_verdict(case: Case, verdict: Verdict | None, bound: Bound, times: dict[str, float]) -> Outcome:
    """Return the outcome of a judged answer, with what both clocks said, in seconds."""
    shown = {f"{name[:-2]}_ms": MS * value for name, value in times.items() if name.endswith("_s")}
    if verdict is None:
        return Outcome(status=NONE, **shown)
    return Outcome(
        status=ANSWERED, gross=verdict.gross, net=verdict.net, in_turn=verdict.in_turn, merged=verdict.merged,
        claimed=verdict.claimed, gas=verdict.gas, swaps=verdict.swaps, gap_bps=bound.find_gap(case.request, verdict),
        above_bound=bound.is_broken(case.request, verdict), above_known=_compare_known(case, verdict), **shown,
    )  # fmt: skip


def _compare_known(case: Case, verdict: Verdict) -> dict[str, float]:
    found = {}
    for name, known in case.known.items():
        net = verdict.net if known.gas_value is None else verdict.gross - verdict.gas * known.gas_value
        sign = -1 if case.request.side == Side.EXACT_OUT else 1
        found[name] = sign * (net / known.net - 1) * BPS if known.net > 0 else 0.0
    return found
