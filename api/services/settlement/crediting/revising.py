"""Let what was proven decide whose a payment is: what an endpoint said at first may have been a lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy.orm import Session

from api.domain.payments import COUNTED, Evidence
from api.domain.transfers import DELIVERIES, Transfer, TransferKind, get_key
from api.services.settlement.crediting.built_deposits import is_built
from api.services.settlement.crediting.matching import Match, match_transfers
from api.services.settlement.crediting.observation import Assessment, ChainObservation
from api.services.settlement.crediting.ownership import give, release
from api.services.settlement.crediting.replacing import tells_the_same
from api.storage.tables import Payment

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A payment, and what is proven of it.

    Parameters
    ----------
    row : Payment
        As it was written when it was seen.
    transfer : Transfer
        As it was proven, or agreed on by several endpoints.
    match : Match or None
        What the proven transfer names; None where a bridge or a signature says whose it is.
    """

    row: Payment
    transfer: Transfer
    match: Match | None

    @property
    def order_id(self) -> str | None:
        """The order that the payment belongs to by what is proven."""
        row, transfer = self.row, self.transfer
        if row.evidence == Evidence.ASSIGNED:
            return row.order_id
        if self.match is not None:
            return self.match.order_id if self.match.evidence != Evidence.NONE else None
        if row.evidence == Evidence.SIGNATURE and row.sender != transfer.sender:
            return None
        is_taken = row.evidence in (Evidence.REFERENCE, Evidence.BRIDGE) and row.kind in DELIVERIES
        return None if is_taken and row.bridge_id != transfer.bridge_id else row.order_id


def find_revisions(session: Session, observation: ChainObservation, checked: Sequence[Payment]) -> list[Revision]:
    """Return the payments of which something is proven for the first time, or a second endpoint says whom they name."""
    rows = [(row, observation.proofs.get((row.tx_hash, row.log_index))) for row in checked]
    fresh = [
        (row, proof.transfer)
        for row, proof in rows
        if proof is not None
        and proof.transfer is not None
        and not proof.is_contradicted
        and tells_the_same(row, proof.transfer)
        and (not row.has_receipt_proof or (proof.has_second_naming and row.state not in COUNTED))
        and not row.has_second_opinion
    ]
    named = [transfer for row, transfer in fresh if _is_named(row, transfer)]
    found = match_transfers(session, observation.env_mode, named, observation.recipients)
    matches = {get_key(match.transfer): match for match in found}
    return [
        Revision(
            row=row,
            transfer=transfer,
            match=matches.get(get_key(transfer), Match(transfer=transfer)) if _is_named(row, transfer) else None,
        )
        for row, transfer in fresh
    ]


def apply_revision(session: Session, revision: Revision, assessment: Assessment) -> None:
    """Bring a payment in line with what is proven of it, and give it to the order that it belongs to by that."""
    row, transfer = revision.row, revision.transfer
    is_same = transfer.sender in (row.sender, "")
    row.is_rejected = assessment.observation.is_rejected(transfer) or (row.is_rejected and is_same)
    row.sender = transfer.sender
    is_open_to_claims = row.order_id is None or row.evidence == Evidence.ASSIGNED  # which may be taken back
    if is_open_to_claims and revision.match is not None and revision.match.order_id is not None:
        row.claimed_order_id = revision.match.order_id  # it may be claimed for no other
    if row.kind == TransferKind.DEPOSIT:
        promise = transfer.promise
        row.promised_chain_id = promise.chain_id if promise else None
        row.promised_token_address = promise.token_address if promise else None
        row.promised_recipient = promise.recipient if promise else None
        row.promised_amount = promise.amount if promise else None
        row.fill_deadline, row.bridge_id = transfer.fill_deadline, transfer.bridge_id
        row.is_built = is_built(session, assessment.orders.get(row.order_id or ""), transfer)
    order_id = revision.order_id
    if row.kind in DELIVERIES:
        row.bridge_id = transfer.bridge_id
    if order_id == row.order_id:
        return
    log.warning("payment_revised", tx_hash=row.tx_hash, order_id=row.order_id, proven_order_id=order_id)
    release(row, assessment.now)
    row.bridge_id = transfer.bridge_id
    give(row, assessment.orders.get(order_id or ""), Evidence.REFERENCE, assessment.now)


def _is_named(row: Payment, transfer: Transfer) -> bool:
    """Whether what its calls name says whose a payment is, or who may claim it, by what is proven of it."""
    if row.kind not in DELIVERIES:
        return row.evidence in (Evidence.NONE, Evidence.REFERENCE)
    return row.evidence != Evidence.SIGNATURE and not transfer.bridge_id
