"""Follow payments through confirmations: counted, final, lost, or mined again elsewhere."""

from __future__ import annotations

from datetime import datetime

import structlog

from api.domain.funds import NOTABLE_SHARE
from api.domain.ledger import Proof
from api.domain.payments import COUNTED, Evidence, PaymentState
from api.domain.transfers import DELIVERIES, Transfer, TransferKind
from api.services.orders.money import is_credited
from api.services.orders.worth import estimate_dollars, is_notable, price_in_dollars
from api.services.settlement.claims.proofs import is_proven
from api.services.settlement.crediting.observation import Assessment
from api.services.settlement.crediting.ownership import judge_moment
from api.services.settlement.crediting.replacing import tells_the_same
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)


def check_payment(row: Payment, assessment: Assessment, deposit: Payment | None) -> bool:
    """Count the blocks above a payment, or note that its own block is gone.

    Parameters
    ----------
    deposit : Payment or None
        Of what a bridge delivered: the deposit that it answers, if one stands.

    Returns
    -------
    bool
        Whether this was the moment when money for a closed order counted that is worth a word.
    """
    observation, confirmations = assessment.observation, assessment.confirmations
    number, order = row.block_number or 0, assessment.orders.get(row.order_id or "")
    had_counted = row.state in COUNTED
    row.updated_at = assessment.now
    if number not in observation.canonical or observation.canonical[number].hash != row.block_hash:
        # Else this look has it in another block.
        if (row.tx_hash, row.log_index) not in observation.seen | observation.unscreened:
            lose_payment(row, assessment.now)
        return False
    row.confirmations = observation.confirmations(number)
    proof = observation.proofs.get((row.tx_hash, row.log_index), Proof())
    if not _take_in_proof(row, order, proof, assessment.now):
        return False
    if row.evidence == Evidence.BRIDGE and row.kind in DELIVERIES and not is_backed(row, deposit, assessment):
        return False
    dollars = _estimate_value(row, order)
    needed, final = confirmations.count_blocks(row.chain_id, dollars), observation.head.final_number
    is_final = final is not None and number <= final
    endpoints = observation.endpoints.get(row.chain_id, 0)
    if is_proven(row, dollars, endpoints, confirmations.doubted_above, is_final=is_final):
        if is_final:
            row.state = PaymentState.FINAL
        elif needed is not None and row.confirmations >= needed:
            row.state = PaymentState.CONFIRMED
    is_new = row.is_after_close and row.state in COUNTED and not had_counted and not row.is_announced
    is_worth_a_word = is_new and order is not None and is_notable(order, row)
    row.is_announced = row.is_announced or is_worth_a_word
    return is_worth_a_word


def _take_in_proof(row: Payment, order: PaymentOrder | None, proof: Proof, now: datetime) -> bool:
    """Note what a look has shown of a payment in its block; tell whether it stands undisputed."""
    if proof.is_certain and proof.transfer is not None and not tells_the_same(row, proof.transfer):
        return False  # what it is instead is taken in
    if proof.is_refuted and row.state not in COUNTED:
        lose_payment(row, now)
        return False
    if proof.is_contradicted:
        row.state = PaymentState.DISPUTED if row.state == PaymentState.SEEN else row.state
        return False
    is_seconded = proof.has_second_opinion and (proof.has_second_naming or row.evidence != Evidence.REFERENCE)
    if row.state == PaymentState.DISPUTED and (proof.has_receipt_proof or is_seconded):
        become_canonical(row, order, now)
    row.has_receipt_proof = row.has_receipt_proof or proof.has_receipt_proof
    row.has_second_opinion = row.has_second_opinion or is_seconded
    return row.state != PaymentState.DISPUTED


def is_backed(row: Payment, deposit: Payment | None, assessment: Assessment) -> bool:
    """Whether a deposit is proven as a payment of the value that was delivered for it must be.

    How deep the deposit lies does not matter: what it delivered is safe on the merchant's own chain.
    """
    if deposit is None:
        return False
    dollars = _estimate_value(row, assessment.orders.get(deposit.order_id or ""))
    endpoints = assessment.observation.endpoints.get(deposit.chain_id, 1)  # of a chain that is connected no more
    is_final = deposit.state == PaymentState.FINAL
    return is_proven(deposit, dollars, endpoints, assessment.confirmations.doubted_above, is_final=is_final)


def lose_payment(row: Payment, now: datetime) -> None:
    """Note that the block which a payment lay in is gone."""
    has_counted = row.state in COUNTED
    name = "payment_lost" if has_counted else "payment_reorged"
    log.warning(name, chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id)
    row.state, row.updated_at = PaymentState.LOST if has_counted else PaymentState.REORGED, now
    _forget_block(row)
    row.block_number, row.block_hash = None, None


def _forget_block(row: Payment) -> None:
    """Forget what was shown of the block that a payment lay in."""
    row.confirmations, row.has_receipt_proof, row.has_second_opinion = 0, False, False


def _estimate_value(row: Payment, order: PaymentOrder | None) -> int | None:
    """Return what waits for confirmations, in whole dollars: the transfer or the price, whichever is more.

    What is delivered for a deposit may be worth more than the deposit, so its promise counts too. None where the price
    of a token is nobody's to vouch for.
    """
    if order is None or not (row.kind == TransferKind.DEPOSIT or is_notable(order, row) or _is_part(row, order)):
        return 0  # it changes nothing, and must not be waited for by anything
    values = [estimate_dollars(row.chain_id, row.token_address, row.amount)]
    if row.promised_chain_id is not None:
        promised = row.promised_token_address or "", row.promised_amount or 0
        values.append(estimate_dollars(row.promised_chain_id, *promised))
    if not row.is_after_close:
        values.append(price_in_dollars(order))
    known = [each for each in values if each is not None]
    return max(known) if len(known) == len(values) else None


def _is_part(row: Payment, order: PaymentOrder) -> bool:
    """Whether a payment of any size is one of those that add up to something: a price may be paid in small parts."""
    adds_up = order.amount_received * NOTABLE_SHARE >= (order.settlement_amount or 0)
    return adds_up and not row.is_after_close and is_credited(order, row)


def move_payment(
    row: Payment, transfer: Transfer, order: PaymentOrder | None, now: datetime, *, was_gone: bool
) -> None:
    """Follow a payment that was mined again, in another block.

    Parameters
    ----------
    was_gone : bool
        Whether its order has been without it: then it comes anew, to an order that may be closed since.
    """
    if row.block_hash == transfer.block.hash:
        return
    _forget_block(row)
    row.block_number, row.block_hash = transfer.block.number, transfer.block.hash
    row.mined_at = transfer.block.mined_at
    if was_gone:
        become_canonical(row, order, now)
    else:
        row.state, row.updated_at = PaymentState.SEEN, now


def become_canonical(row: Payment, order: PaymentOrder | None, now: datetime) -> None:
    """Let a payment that was in no canonical block, or of which that was disputed, be as one that comes now."""
    row.state, row.updated_at = PaymentState.SEEN, now
    judge_moment(row, order)
