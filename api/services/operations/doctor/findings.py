"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    """Works, with less than an operator may think."""
    WRONG = "wrong"
    """Payments fail, or somebody may do what he should not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    about : str
        What was looked at.
    message : str
        How it is; holds no secret and no address with a key in it.
    remedy : str
        What to do; empty where all is well.
    """

    level: Severity
    about: str
    message: str
    remedy: str = ""


def praise(about: str, message: str) -> Finding:
    """Say that something is well."""
    return Finding(level=Severity.OK, about=about, message=message)


def warn(about: str, message: str, remedy: str) -> Finding:
    """Say that something is worse than it may seem."""
    return Finding(level=Severity.WARNING, about=about, message=message, remedy=remedy)


def blame(about: str, message: str, remedy: str) -> Finding:
    """Say that something is wrong."""
    return Finding(level=Severity.WRONG, about=about, message=message, remedy=remedy)
