"""How deep a payment must lie before it counts, by its value and its chain."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from routing_engine.reference.chains import CHAINS

_RULE = re.compile(r"(\*|[1-9][0-9]{0,15}):((?:[0-9]{1,15}=[0-9]{1,6})(?:,[0-9]{1,15}=[0-9]{1,6})*)", re.ASCII)

Steps = tuple[tuple[int, int], ...]

FINAL_AFTER_S = 1_500
"""What counts as final on a chain that nobody describes: more than the quarter of an hour that Ethereum takes."""
UNKNOWN_BLOCK_TIME_S = 12.0
SIMULATED_FINAL_AFTER_S = 3
"""On the simulated chains."""
SOONEST_S = 2
"""What is asked again sooner than this has not been looked at meanwhile."""
DOUBTED_ABOVE = 1_000
"""Dollars above which one endpoint's word and one proof are not enough."""


def count_finality_blocks(chain_id: int) -> int:
    """Return how deep a block lies that nothing changes any more, on a chain whose nodes do not say."""
    chain = CHAINS.get(chain_id)
    if chain is None:
        return math.ceil(FINAL_AFTER_S / UNKNOWN_BLOCK_TIME_S)
    return math.ceil(chain.final_after_s / chain.block_time_s)


def estimate_final_in_s(chain_id: int, age_s: float, *, is_simulated: bool) -> int:
    """Return in how many seconds a block is final, as its chain usually takes.

    Parameters
    ----------
    age_s : float
        Seconds since it was mined.
    """
    chain = CHAINS.get(chain_id)
    usual_s = SIMULATED_FINAL_AFTER_S if is_simulated else chain.final_after_s if chain else FINAL_AFTER_S
    return max(SOONEST_S, math.ceil(usual_s - age_s) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """Blocks that a payment waits for.

    Parameters
    ----------
    default : tuple of (int, int)
        Largest value in whole dollars, and blocks up to it, the payment's own block counted; by rising value.
        Above the last one the chain's finality is waited for.
    by_chain : mapping of int to such tuples
        Chains with steps of their own.
    doubted_above : int
        Whole dollars above which a payment must be shown twice before it counts.
    """

    default: Steps = ((100, 1), (1_000, 6))
    by_chain: Mapping[int, Steps] = field(default_factory=lambda: MappingProxyType({1: ((100, 2), (1_000, 6))}))
    doubted_above: int = DOUBTED_ABOVE

    def count_blocks(self, chain_id: int, dollars: int | None) -> int | None:
        """Return how many blocks a value waits for; None: until it is final. An unknown value waits for that too."""
        if dollars is None:
            return None
        steps = self.by_chain.get(chain_id, self.default)
        return next((blocks for limit, blocks in steps if dollars <= limit), None)

    @property
    def deepest(self) -> int:
        """The largest number of blocks that any value waits for, short of finality."""
        return max((blocks for steps in (self.default, *self.by_chain.values()) for _, blocks in steps), default=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the setting, such as ``*:100=1,1000=6;1:100=2,1000=6``; ``*`` is every chain without its own part.

        Raises
        ------
        ValueError
            If it can't be read; the message shows the form.
        """
        rules: dict[str, Steps] = {}
        for part in text.split(";"):
            match = _RULE.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"{part!r} is not of the form chain:dollars=blocks,…; such as *:100=1,1000=6")
            if match[1] in rules:
                raise ValueError(f"{match[1]} is given twice; put all of its steps into one part")
            pairs = [[*map(int, pair.split("="))] for pair in match[2].split(",")]
            if not all(blocks for _, blocks in pairs):
                raise ValueError(
                    f"{part!r}: at least 1 block, which is the payment's own; 0 would count what is in none"
                )
            if len({dollars for dollars, _ in pairs}) < len(pairs):
                raise ValueError(f"{part!r}: the same dollars are given twice; write each step once")
            rules[match[1]] = tuple(sorted((dollars, blocks) for dollars, blocks in pairs))
        default = rules.pop("*", cls().default)
        return cls(default=default, by_chain=MappingProxyType({int(chain): steps for chain, steps in rules.items()}))
