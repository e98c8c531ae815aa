"""What changed from one run to another, and which of it is worse by more than is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.reports.document import Run
from benchmarks.reports.figures import EVERYTHING, GROWTH, Kind

NOISE = {"bps": 0.05, "ms": 0.02, "s": 0.1, "MiB": 8.0, "power": 0.1}
"""Changes of less than this are none, however large a part of a small figure they are; of other units any counts."""

SAME_MACHINE = ("processor", "cores", "system")

Key = tuple[str, str, str]
"""Solver, what it was measured on, the figure's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure in both runs.

    Parameters
    ----------
    key : Key
        Whose, on what, which.
    before, after : float
        Its values.
    unit : str
        Of both.
    kind : str
        A `Kind`.
    worse : float or None
        By which part it is worse, negative where it is better; infinite where it was 0; None where neither is.
    """

    key: Key
    before: float
    after: float
    unit: str
    kind: str
    worse: float | None

    @property
    def name(self) -> str:
        """Which figure, for people."""
        return ": ".join(self.key)

    def is_regression(self, allowed: float) -> bool:
        """Whether it is worse by more than a part, and by more than noise."""
        apart = abs(self.after - self.before)
        return self.worse is not None and self.worse > allowed and apart > NOISE.get(self.unit, 0.0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Figures of two runs that can be compared, and why others can't.

    Parameters
    ----------
    changes : list of Change
        All figures in both.
    skipped : list of str
        In a sentence each: what was not compared, and why.
    lost : list of str
        Figures of quality that only the first run has, on the same questions: nothing came any more.
    """

    changes: list[Change] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def compare(before: Run, after: Run, kinds: Collection[str] = tuple(Kind)) -> Comparison:
    """Compare the figures that speak of the same questions on the same markets, and times only of one machine."""
    found = Comparison()
    usable = _find_same(before, after, found.skipped)
    measured = set(kinds)
    here = [tuple(run["facts"].get(name) for name in SAME_MACHINE) for run in (before, after)]
    if here[0] != here[1] and measured & {Kind.TIME}:
        measured -= {Kind.TIME}
        found.skipped.append(f"times: the runs are of different machines, {here[0]} and {here[1]}")
    old, new = _index(before), _index(after)
    solvers = {key[0] for key in new}
    for key, row in old.items():
        if key[1] not in usable or row["kind"] not in measured:
            continue
        if key in new:
            found.changes.append(_change(key, row, new[key]))
        elif key[0] in solvers and row.get("better") and row["kind"] == Kind.QUALITY:
            found.lost.append(": ".join(key))
    missing = sorted({key[0] for key in old} - solvers)
    if missing:
        found.skipped.append(f"{', '.join(missing)}: took no part in the second run")
    return found


def _index(run: Run) -> dict[Key, Mapping[str, object]]:
    return {(row["solver"], row["on"], row["name"]): row for row in run["figures"]}


def _find_same(before: Run, after: Run, skipped: list[str]) -> set[str]:
    """Return the groups and markets that are the same in both; say which are not."""
    old, new = ({each["name"]: each["hash"] for each in run["markets"]} for run in (before, after))
    same = {name for name in old if old[name] == new.get(name)}
    skipped += [
        f"{name}: another market, {old[name][:8]} and {new[name][:8]}" for name in old.keys() & new.keys() - same
    ]
    groups = {each["name"]: each for each in after["groups"]}
    for group in before["groups"]:
        other = groups.get(group["name"])
        if other is None:
            skipped.append(f"{group['name']}: not in the second run")
        elif group["hash"] != other["hash"]:
            skipped.append(f"{group['name']}: other requests")
        elif group["market"] in same:
            same.add(group["name"])
    if all(run_group["name"] in same for run in (before, after) for run_group in run["groups"]):
        same.add(EVERYTHING)
    grown = [each["name"] for each in before["markets"] if each["grows"]]
    if grown and all(name in same for name in grown):
        same.add(GROWTH)
    return same


def _change(key: Key, old: Mapping[str, object], new: Mapping[str, object]) -> Change:
    before, after = float(str(old["value"])), float(str(new["value"]))
    worse: float | None = None
    if old.get("better"):
        worse = after - before if old["better"] == "less" else before - after
        if worse:
            worse = worse / abs(before) if before else worse * float("inf")
    return Change(
        key=key, before=before, after=after, unit=str(old["unit"]), kind=str(old["kind"]), worse=worse
    )  # fmt: skip


def list_shown(changes: Collection[Change], least: float) -> Iterator[Change]:
    """Yield changes of at least a part, the worst first; of figures that are neither better nor worse, none."""
    told = [each for each in changes if each.is_regression(least) or _is_gain(each, least)]
    yield from sorted(told, key=lambda each: -(each.worse or 0.0))


def _is_gain(change: Change, least: float) -> bool:
    apart = abs(change.after - change.before)
    return change.worse is not None and change.worse < -least and apart > NOISE.get(change.unit, 0.0)
