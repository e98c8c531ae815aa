"""The hops of one transaction on one chain: what is swapped between, and where the coin is wrapped."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from adapters.transactions.base import PlannedHop
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

WRAP = "wrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapPath:
    """Swaps in series, with the coin perhaps wrapped before them and unwrapped after them.

    Parameters
    ----------
    token_in, token_out : Token
        What is paid and what is received; either may be the chain's coin.
    swaps : tuple of PlannedHop
        What happens between; the coin appears in its wrapped form only.
    """

    token_in: Token
    token_out: Token
    swaps: tuple[PlannedHop, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """Addresses of the contracts from the first to the last; one more than swaps."""
        return (self.swaps[0].hop.token_in.address, *(each.hop.token_out.address for each in self.swaps))


def find_path(hops: tuple[PlannedHop, ...], protocols: frozenset[str]) -> SwapPath | None:
    """Return hops as a path over markets of these protocols, or None where they are something else.

    None for hops on several chains, for a network of parallel paths, and for wrapping in the middle.
    """
    if not hops or not _is_chain_of_one(hops):
        return None
    first, last = hops[0].hop.token_in, hops[-1].hop.token_out
    swaps = hops[1:] if _is_wrapping(hops[0]) and first.is_native else hops
    if swaps and _is_wrapping(swaps[-1]) and last.is_native:
        swaps = swaps[:-1]
    if any(each.hop.protocol not in protocols for each in swaps):
        return None
    if any(token.is_native for each in swaps for token in (each.hop.token_in, each.hop.token_out)):
        return None
    return SwapPath(token_in=first, token_out=last, swaps=swaps)


def wrap_token(token: Token) -> Token:
    """Return the contract that stands for a token: the coin's wrapped form, or the token itself."""
    return CHAINS[token.chain_id].wrapped_native_token if token.is_native else token


def _is_wrapping(planned: PlannedHop) -> bool:
    return planned.hop.protocol == WRAP


def _is_chain_of_one(hops: tuple[PlannedHop, ...]) -> bool:
    """Whether each hop goes on where the one before ended, all on one chain."""
    chains = {token.chain_id for each in hops for token in (each.hop.token_in, each.hop.token_out)}
    joins = all(before.hop.token_out == after.hop.token_in for before, after in pairwise(hops))
    return len(chains) == 1 and joins
