"""Write what a look has shown: in transactions that are short, however much strangers have sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session

from api.domain.ledger import Doubt
from api.services.settlement.crediting.crediting import credit
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching.portions import divide
from api.services.settlement.watching.watched_chain import WatchedChain, hold_cursor
from api.storage.tables import WatchCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The last transaction of a look, in which all of it is credited but what is put off.

    Parameters
    ----------
    put_off : sequence of Doubt
        The blocks of transfers for which the look had no time: whoever goes on lists them as doubtful.
    in_vain : sequence of Doubt
        Likewise those of transfers of whose people the screen could not say anything.
    """

    session: Session
    cursor: WatchCursor
    put_off: Sequence[Doubt]
    in_vain: Sequence[Doubt]


@contextmanager
def credit_all(chain: WatchedChain, observation: ChainObservation) -> Iterator[Written]:
    """Credit what a look has shown, and give the last transaction for what else it has to write.

    What comes before is written whatever happens then, and a look that begins anew finds it there.
    """
    confirmations, now = chain.resources.config.confirmations, chain.resources.clock.now()
    with chain.resources.database.read() as session:
        divided = divide(session, observation)
    *earlier, last = divided.portions
    for portion in earlier:
        with chain.resources.database.write() as session:
            hold_cursor(chain, session)
            credit(session, portion, confirmations, now)
    with chain.resources.database.write() as session:
        cursor = hold_cursor(chain, session)
        credit(session, last, confirmations, now)
        yield Written(session=session, cursor=cursor, put_off=divided.put_off, in_vain=observation.in_vain)
    if divided.put_off or observation.in_vain:
        chain.ledger.forget_read(chain.chain_id)
