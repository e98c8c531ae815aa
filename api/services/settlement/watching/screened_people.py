"""Whom the operator's screen is asked about in a look, and what waits until it has said something of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from api.domain.ledger import Doubt
from api.domain.orders import LATE_WINDOW
from api.domain.transfers import CanonicalBlock, Transfer, get_key, list_people
from api.services.ledger.chain_reader import HINT
from api.services.resources import Resources
from api.services.settlement.crediting.observation import ChainObservation

PATIENCE = LATE_WINDOW
"""An order takes money that comes late for as long."""


def screen_people(resources: Resources, seen: ChainObservation) -> ChainObservation:
    """Return a look with those from whom nothing is taken, and without what has to do with anybody who is unknown yet.

    Strangers may be very many, and the screen may fail at one of them: whoever had to do with few others is asked about
    first, and no payment waits for people who had nothing to do with it. A transaction waits as a whole, so that none
    of it seems to have vanished. At whom the screen still fails after `PATIENCE`, from him nothing is taken: else a
    block would be in doubt for ever.
    """
    proven = (each.transfer for each in seen.proofs.values() if each.transfer is not None)
    people = sorted(map(list_people, (*seen.transfers, *proven)), key=len)
    said = resources.screened.ask(resources.screen, chain.from_iterable(map(sorted, people)), resources.clock.now())
    since = resources.clock.now() - PATIENCE
    old = chain.from_iterable(list_people(each) for each in seen.transfers if each.block.mined_at <= since)
    rejected = said.rejected | said.in_vain.intersection(old)
    unknown = (said.in_vain | said.unasked) - rejected
    if not unknown:
        return replace(seen, rejected=rejected)
    later = {each.tx_hash for each in seen.transfers if not unknown.isdisjoint(list_people(each))}
    waiting = [each for each in seen.transfers if each.tx_hash in later]
    unasked = {each.tx_hash for each in waiting if not said.unasked.isdisjoint(list_people(each))}
    return replace(
        seen,
        rejected=rejected,
        transfers=tuple(each for each in seen.transfers if each.tx_hash not in later),
        proofs={
            key: each
            for key, each in seen.proofs.items()
            if each.transfer is None or unknown.isdisjoint(list_people(each.transfer))
        },
        unscreened=frozenset(map(get_key, waiting)),
        put_off=_list_blocks(each for each in waiting if each.tx_hash in unasked),
        in_vain=_list_blocks(each for each in waiting if each.tx_hash not in unasked),
    )


def _list_blocks(transfers: Iterable[Transfer]) -> tuple[Doubt, ...]:
    blocks: dict[int, CanonicalBlock] = {each.block.number: each.block for each in transfers}
    return tuple(Doubt(block=each, told_by=HINT) for each in blocks.values())
