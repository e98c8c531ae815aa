"""What a chain is watched for: whom vendors are paid at, and what is to be sent back to whom."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Something that is to move on a chain: of which token, and from whom to whom."""

    token_address: str
    sender: str
    recipient: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedRefund:
    """What a merchant is to send back, with the reference that is to stand behind the call that sends it."""

    move: Move
    reference: bytes


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What is looked for on one chain.

    Only the recipients are vendors' own addresses. Everybody else is anybody, the busiest address of a chain too: so
    what is to reach them is looked for by all that is known of it, and never by their names alone.

    Parameters
    ----------
    recipients : frozenset of str
        Every address at which a vendor may receive: whatever reaches one matters.
    refunds : frozenset of AwaitedRefund
        What merchants are to send back.
    returns : frozenset of Move
        What bridges are to give back of what they took in: from their contracts to whoever paid.
    """

    recipients: frozenset[str]
    refunds: frozenset[AwaitedRefund] = frozenset()
    returns: frozenset[Move] = frozenset()

    @classmethod
    def at(cls, recipients: Collection[str]) -> Self:
        """Watch for what reaches these addresses, and for nothing else."""
        return cls(recipients=frozenset(recipients))

    @cached_property
    def moves(self) -> frozenset[Move]:
        """What is to be sent back, by merchants and bridges."""
        return frozenset(each.move for each in self.refunds) | self.returns

    @cached_property
    def references(self) -> frozenset[bytes]:
        """Those of all refunds."""
        return frozenset(each.reference for each in self.refunds)

    @cached_property
    def payees(self) -> frozenset[str]:
        """Whoever may be sent something that matters, in a transaction that does."""
        return self.recipients | {each.recipient for each in self.moves}

    def is_for(self, token_address: str, recipient: str) -> bool:
        """Whether it matters that a token reaches an address, in a transaction that was looked for.

        Who sends a refund is told by its calls: a merchant's money may come through a contract that pays many.
        """
        return recipient in self.recipients or (token_address, recipient) in self._sent_back

    @cached_property
    def _sent_back(self) -> frozenset[tuple[str, str]]:
        return frozenset((each.token_address, each.recipient) for each in self.moves)
