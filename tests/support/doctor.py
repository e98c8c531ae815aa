"""Judging what `checkout doctor` has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.services.operations.doctor.findings import Finding

HASH = "0x" + "ab" * 32
"""Of any block or transaction that is looked at."""


def list_bad(findings: Iterator[Finding] | Sequence[Finding]) -> dict[str, str]:
    """Return the messages of what is not well, with their remedies, by what they are about and how bad they are."""
    bad = [each for each in findings if each.level != "ok"]
    assert all(each.remedy for each in bad)
    assert len({each.about for each in bad}) == len(bad), bad
    return {f"{each.level} {each.about}": f"{each.message} → {each.remedy}" for each in bad}
