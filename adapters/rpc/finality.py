"""Up to which block nothing changes any more, as the endpoints of one chain say together: one alone may lie."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adapters.base import VenueUnavailable
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Endpoint

BlockReader = Callable[[Sequence[Endpoint], int], Mapping[Endpoint, Block]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalBlock:
    """The block that endpoints agree on; no `hash` where the chain is not that long."""

    number: int
    hash: str = ""


class FinalityVote:
    """Asks endpoints of one chain which block is final, and counts their answers.

    The middle of what they say counts, of two the lower: so no single one can say that a block is final which may still
    be lost. One that says nothing counts as if it had named a block at the depth that is final on such a chain. Those
    who speak must have the same block of that number, or else be outvoted. While half of them or more say nothing no
    further block becomes final: who is left could tell of a chain of his own, as long as he likes.

    Parameters
    ----------
    chain_id : int
        For messages.
    endpoints : int
        How many there are.
    depth : int
        Blocks, where a node does not say.
    read : callable
        Reads the block of a number from endpoints, as far as they answer and have it.
    """

    def __init__(self, chain_id: int, endpoints: int, depth: int, read: BlockReader) -> None:
        self._chain_id, self._endpoints, self._depth, self._read = chain_id, endpoints, depth, read

    def find_own(self, head: Block) -> int:
        """Return the number of the block that is final if one endpoint alone is believed."""
        return head.number - self._depth if head.final is None else min(head.final, head.number)

    def find_agreed(self, heads: Mapping[Endpoint, Block], last: FinalBlock | None) -> FinalBlock | None:
        """Return what the endpoints that told these heads agree on; who tells of another block is out of step then.

        Parameters
        ----------
        last : FinalBlock or None
            What was agreed on before, and stands while too few speak.

        Raises
        ------
        VenueUnavailable
            If they do not, so that somebody has to look which of them is right.
        """
        if self._endpoints > 1 and 2 * len(heads) <= self._endpoints:
            self._require_known(heads, last)
            return last
        lowest = min(head.number for head in heads.values())
        own = [self.find_own(head) for head in heads.values()]
        silent = [lowest - self._depth] * (self._endpoints - len(heads))
        number = min(lowest, statistics.median_low(own + silent))
        if number < 0 or self._endpoints == 1:
            return FinalBlock(number=number)
        blocks = self._read_blocks(heads, number)
        (most, count), *others = Counter(block.hash for block in blocks.values()).most_common()
        if others and others[0][1] == count:
            told = ", ".join(f"{endpoint.host}: {block.hash}" for endpoint, block in blocks.items())
            raise VenueUnavailable(
                f"chain {self._chain_id}: its endpoints tell of different blocks {number}, which is to be final "
                f"({told}); find out which is right, and take the others out"
            )
        for endpoint, block in blocks.items():
            endpoint.in_step = endpoint.in_step and block.hash == most
        return FinalBlock(number=number, hash=most)

    def _require_known(self, heads: Mapping[Endpoint, Block], agreed: FinalBlock | None) -> None:
        """Refuse the few who speak if they do not have the block that all agreed on."""
        if agreed is None or not agreed.hash:
            return
        for endpoint, block in self._read_blocks(heads, agreed.number).items():
            if block.hash != agreed.hash:
                raise VenueUnavailable(
                    f"chain {self._chain_id}: {endpoint.host} tells of block {agreed.number} as {block.hash}, which "
                    f"was {agreed.hash} when it was agreed on as final, and too few others answer"
                )

    def _read_blocks(self, heads: Mapping[Endpoint, Block], number: int) -> Mapping[Endpoint, Block]:
        blocks = self._read(list(heads), number)
        if not blocks:
            raise VenueUnavailable(f"chain {self._chain_id}: no endpoint answers which block {number} is")
        return blocks
