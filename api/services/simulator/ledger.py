"""The simulated chains behind the port that real ones have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain

from sqlalchemy import bindparam, select, union
from sqlalchemy.orm import Session

from api.domain.clock import Clock
from api.domain.ledger import Doubt, EndpointState, Head, Place, Proof, Reading, Settlement
from api.domain.payments import COUNTED
from api.domain.transfers import CanonicalBlock, Naming, Transfer, TransferKey, TransferKind, get_key
from api.domain.watched import Watched
from api.services.settlement.crediting.built_deposits import SIMULATED_BRIDGE
from api.services.simulator.chain import (
    BLOCK_TIME,
    FINALITY_BLOCKS,
    describe_blocks,
    find_mined_at,
    find_number_at,
    hold,
    reorganise,
    take_back,
)
from api.services.simulator.wallet import UNSENT, sign_refunds
from api.storage.db import Database
from api.storage.statements import Statement
from api.storage.tables import Payment, Refund, SimulatedChain, SimulatedReorg, SimulatedTransfer
from routing_engine.reference.chains import CHAINS

REORG_KEPT_IN_MIND = timedelta(minutes=1)
"""How long a reorganisation counts as something that has just happened."""


class SimulatedLedger:
    """Chains of the test environment.

    Parameters
    ----------
    database : Database
        Where transfers and reorganisations are kept.
    clock : Clock
        Mines the blocks.
    """

    span = 10_000_000
    is_simulated = True

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @property
    def chain_ids(self) -> frozenset[int]:
        """All chains that the engine describes."""
        return frozenset(CHAINS)

    def read_head(self, chain_id: int) -> Head:
        """Sign what merchants send back, close the blocks up to now, and reorganise the chain if that was asked for."""
        with self._database.write() as session:
            return self._close(session, hold(session, chain_id)[chain_id])

    def list_still(self, reached: Mapping[int, int]) -> frozenset[int]:
        """Return the chains on which nothing has happened, is still to happen, or can still be taken back."""
        # What was read last can be lost as long as it is not final, and a wallet may have been asked to pay.
        after, since = min(reached.values()) - FINALITY_BLOCKS, self._clock.now() - REORG_KEPT_IN_MIND
        with self._database.look() as connection:
            rows = _NEWS.fetch(connection, {"after": after, "since": since})
        return frozenset(reached) - {row.chain_id for row in rows}

    def count_requests(self, chain_id: int) -> int:
        """Return 0: the chain is tables."""
        return 0

    def read_blocks(self, chain_id: int, numbers: Collection[int]) -> Mapping[int, CanonicalBlock]:
        """Return the canonical blocks with these numbers."""
        with self._database.look() as connection:
            head = max((row.head_number for row in _HEAD.fetch(connection, {"chain_id": chain_id})), default=0)
            return describe_blocks(connection, chain_id, [number for number in numbers if number <= head])

    def find_block_at(self, chain_id: int, moment: datetime) -> int:
        """Return the number of the first block mined at `moment` or later."""
        number = find_number_at(moment)
        return number if find_mined_at(number) == moment else number + 1

    def accepts_signature(self, chain_id: int, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Accept nothing: every simulated payment carries its reference, and nobody has a simulated wallet's key."""
        return False

    def count_endpoints(self, chain_id: int) -> int:
        """Return how many there are to ask: a simulated chain is one thing that does not lie."""
        return 1

    def list_endpoints(self, chain_id: int) -> Sequence[EndpointState]:
        """Return none: nobody has to answer for tables."""
        return ()

    def can_trace(self, chain_id: int) -> bool | None:
        """Whether what only a trace shows is seen: there is no such thing here."""
        return True

    def read(self, chain_id: int, first: int, last: int, watched: Watched) -> Reading:
        """Return what moved in these blocks, of which none is in doubt."""
        return Reading(transfers=self.search(chain_id, first, last, watched))

    def settle(self, chain_id: int, doubts: Collection[Doubt], watched: Watched) -> Settlement:
        """Give the blocks once more: they are what they were."""
        found = [self.search(chain_id, each.block.number, each.block.number, watched) for each in doubts]
        return Settlement(
            transfers=tuple(chain.from_iterable(found)), settled=frozenset(each.block.number for each in doubts)
        )

    def forget_read(self, chain_id: int) -> None:
        """Do nothing: all is read again each time."""

    def prove(self, chain_id: int, transfers: Collection[Transfer], watched: Watched) -> Mapping[TransferKey, Proof]:
        """Vouch for everything."""
        return {
            get_key(each): Proof(has_receipt_proof=True, has_second_opinion=True, has_second_naming=True)
            for each in transfers
        }

    def find_places(self, chain_id: int, hashes: Collection[str], watched: Watched) -> Mapping[str, Place]:
        """Return where these transactions were mined."""
        query = select(SimulatedTransfer).where(
            SimulatedTransfer.chain_id == chain_id,
            SimulatedTransfer.tx_hash.in_(hashes),
            SimulatedTransfer.is_canonical,
        )
        with self._database.read() as session:
            rows = session.scalars(query).all()
        return {
            row.tx_hash: Place(
                block=_make_transfer(row).block, is_relevant=watched.is_for(row.token_address, row.recipient)
            )
            for row in rows
        }

    def search(self, chain_id: int, first: int, last: int, watched: Watched) -> tuple[Transfer, ...]:
        """Return what moved in these blocks."""
        with self._database.look() as connection:
            rows = _MINED.fetch(connection, {"chain_id": chain_id, "first": first, "last": last})
        return tuple(
            _make_transfer(row)
            for row in rows
            if row.kind != TransferKind.PAYMENT or watched.is_for(row.token_address, row.recipient)
        )

    def _close(self, session: Session, chain: SimulatedChain) -> Head:
        now = self._clock.now()
        sign_refunds(session, chain.chain_id, now - BLOCK_TIME)  # into the newest block, if nobody has read it yet
        doomed = _list_doomed(session, chain.chain_id)
        shown = [row for row in doomed if row.block_number <= chain.head_number]
        if shown:
            lost = {row.reference for row in shown if row.reference is not None}
            reorganise(session, chain, min(row.block_number for row in shown), lost, now)
            for row in shown:
                take_back(session, row)
        chain.head_number = number = max(chain.head_number, find_number_at(now))
        # Nothing is final that a reorganisation is still to come for.
        limits = [row.block_number - 1 for row in doomed if row not in shown]
        final_number = min(number - FINALITY_BLOCKS, *limits) if limits else number - FINALITY_BLOCKS
        return Head(block=describe_blocks(session, chain.chain_id, [number])[number], final_number=final_number)


def _list_doomed(session: Session, chain_id: int) -> Sequence[SimulatedTransfer]:
    """Return the transfers that the chain loses once they have been shown."""
    if not _DOOMED.fetch(session, {"chain_id": chain_id}):
        return ()
    query = select(SimulatedTransfer).where(SimulatedTransfer.chain_id == chain_id, *_IS_DOOMED)
    rows = session.scalars(query).all()
    _spare_final(session, rows)
    return [row for row in rows if row.reorg_when_seen]


def _spare_final(session: Session, doomed: Sequence[SimulatedTransfer]) -> None:
    """Keep what the watcher has taken for final between the request to lose it and now: the request came too late."""
    hashes = {row.tx_hash for row in doomed}
    if not hashes:
        return
    query = select(Payment.chain_id, Payment.tx_hash, Payment.log_index)
    final = session.execute(query.where(Payment.tx_hash.in_(hashes), Payment.state.in_(COUNTED))).all()
    for row in doomed:
        row.reorg_when_seen = (row.chain_id, row.tx_hash, row.log_index) not in final


def _make_transfer(row: SimulatedTransfer) -> Transfer:
    return Transfer(
        kind=TransferKind(row.kind),
        chain_id=row.chain_id,
        block=CanonicalBlock(number=row.block_number, hash=row.block_hash, mined_at=find_mined_at(row.block_number)),
        tx_hash=row.tx_hash,
        log_index=row.log_index,
        token_address=row.token_address,
        sender=row.sender,
        recipient=row.recipient,
        amount=row.amount,
        namings=() if row.reference is None else (Naming(reference=row.reference, is_own=True, caller=row.sender),),
        bridge_id=_make_bridge_id(row),
        source_chain_id=row.source_chain_id,
        source_tx_hash=row.source_tx_hash,
    )


def _make_bridge_id(row: SimulatedTransfer) -> str:
    """Return what a deposit and what answers it have in common; empty where no bridge has to do with it."""
    deposit = row.tx_hash if row.kind == TransferKind.DEPOSIT else row.source_tx_hash
    return f"{SIMULATED_BRIDGE}:{deposit}" if deposit else ""


_NEWS = Statement(
    union(
        select(SimulatedChain.chain_id)  # first, since transfers are found by their chain
        .join(SimulatedTransfer, SimulatedTransfer.chain_id == SimulatedChain.chain_id)
        .where(
            SimulatedTransfer.block_number > bindparam("after", type_=SimulatedTransfer.block_number.type),
            SimulatedTransfer.is_canonical,
        ),
        select(Refund.chain_id).join(Payment, Payment.id == Refund.payment_id).where(*UNSENT),
        select(SimulatedReorg.chain_id).where(
            SimulatedReorg.at >= bindparam("since", type_=SimulatedReorg.at.type),
        ),
    )
)
_CHAIN_ID = bindparam("chain_id", type_=SimulatedTransfer.chain_id.type)
_HEAD = Statement(select(SimulatedChain.head_number).where(SimulatedChain.chain_id == _CHAIN_ID))
_MINED = Statement(
    select(*SimulatedTransfer.__table__.columns)
    .where(
        SimulatedTransfer.chain_id == _CHAIN_ID,
        SimulatedTransfer.block_number >= bindparam("first", type_=SimulatedTransfer.block_number.type),
        SimulatedTransfer.block_number <= bindparam("last", type_=SimulatedTransfer.block_number.type),
        SimulatedTransfer.is_canonical,
    )
    .order_by(SimulatedTransfer.block_number, SimulatedTransfer.tx_hash, SimulatedTransfer.log_index)
)
_IS_DOOMED = SimulatedTransfer.reorg_when_seen, SimulatedTransfer.is_canonical
_DOOMED = Statement(
    select(SimulatedTransfer.tx_hash).where(SimulatedTransfer.chain_id == _CHAIN_ID, *_IS_DOOMED).limit(1)
)
