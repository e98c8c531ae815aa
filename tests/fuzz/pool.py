"""The ids that the service gave out, by whom they belong to, so that later requests can be about them."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from api.domain.ids import ALPHABET, RANDOM_CHARS, TIME_CHARS

Owner = tuple[str, str]
"""A vendor's id and an environment."""
PUBLIC = "qt"
"""Of quotes: they belong to nobody."""
PRIVATE = ("po", "ep", "evt", "dlv", "tr")
ID = re.compile(rf"\b(po|ep|evt|dlv|tr|qt)_[{ALPHABET}]{{{TIME_CHARS + RANDOM_CHARS}}}\b")
REFUND = re.compile(r"\brf_[0-9a-f]{32}\b")
CURSOR = re.compile(r'"next_cursor": ?"([^"]+)"')
KEPT = 200
FOREIGN = 0.12
"""How often a request is about what belongs to somebody else."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks: a name for reports, an API key or none, and whose it is."""

    name: str
    key: str | None = None
    owner: Owner | None = None

    @property
    def env_mode(self) -> str:
        """The environment of the key."""
        return self.owner[1] if self.owner else "test"


@dataclass
class Pool:
    """Ids by owner and prefix, the newest of each, refunds with their orders, and pages' cursors."""

    owners: tuple[Owner, ...]
    _ids: defaultdict[tuple[Owner | None, str], deque[str]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=KEPT))
    )
    _refunds: defaultdict[Owner, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    _cursors: deque[str] = field(default_factory=lambda: deque(["0"], maxlen=KEPT))

    def gather(self, owner: Owner | None, text: str) -> set[str]:
        """Keep the ids of an answer to somebody, and return those that belong to somebody."""
        found = {match[0] for match in ID.finditer(text)}
        for each in sorted(found):
            prefix = each.partition("_")[0]
            if prefix == PUBLIC or owner is not None:
                self.add(None if prefix == PUBLIC else owner, each)
        orders = [each for each in found if each.startswith("po_")]
        if owner is not None and len(orders) == 1:
            self._refunds[owner].update(dict.fromkeys(REFUND.findall(text), orders[0]))
        self._cursors.extend(CURSOR.findall(text)[:1])
        return {each for each in found if not each.startswith(PUBLIC)}

    def add(self, owner: Owner | None, known: str) -> None:
        """Keep an id that was made known otherwise."""
        kept = self._ids[owner, known.partition("_")[0]]
        if known not in kept:
            kept.append(known)

    def list_webhooks(self) -> frozenset[str]:
        """Return the webhooks that are known now."""
        return frozenset(each for (_, prefix), known in self._ids.items() if prefix == "ep" for each in known)

    def forget(self, text: str) -> None:
        """Name the ids in a text no more: what they stood for was deleted."""
        for match in ID.finditer(text):
            for kept in self._ids.values():
                if match[0] in kept:
                    kept.remove(match[0])

    def pick(self, prefix: str, caller: Caller, dice: Random) -> str:
        """Return an id, mostly one of the caller's."""
        owner = caller.owner or dice.choice(self.owners)
        if prefix == PUBLIC:
            return self._choose(self._ids[None, prefix], dice, prefix)
        if dice.random() < FOREIGN:
            owner = dice.choice(self.owners)
        return self._choose(self._ids[owner, prefix], dice, prefix)

    def pick_refund(self, caller: Caller, dice: Random) -> tuple[str, str] | None:
        """Return one of the caller's refunds, and its order; None where he has none."""
        known = self._refunds.get(caller.owner) if caller.owner else None
        return dice.choice(list(known.items())) if known else None

    def pick_cursor(self, dice: Random) -> str:
        """Return where a page began or ended."""
        return dice.choice(self._cursors)

    @staticmethod
    def _choose(known: Iterable[str], dice: Random, prefix: str) -> str:
        listed = list(known)
        made_up = f"{prefix}_" + "".join(dice.choices(ALPHABET, k=TIME_CHARS + RANDOM_CHARS))
        return dice.choice(listed) if listed else made_up
