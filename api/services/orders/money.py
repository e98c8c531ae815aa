"""What moved for an order: its transfers and refunds as stored, and what they add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.funds import Credit, Funds, add_up
from api.domain.payments import CHECKED, COUNTED, GONE, Evidence, PaymentState
from api.domain.transfers import TransferKind
from api.services.orders.quoted import Payer, choose_quote, group_by_payer, load_given
from api.services.orders.worth import is_notable
from api.storage.tables import Payment, PaymentOrder, Refund

_PAYMENTS = (
    select(Payment)
    .where(Payment.order_id.in_(bindparam("order_ids", expanding=True)), Payment.state.not_in(GONE))
    .order_by(Payment.mined_at, Payment.id)
)


@dataclass(frozen=True, kw_only=True)
class Money:
    """What moved for one order, and what its merchant wants to send back.

    Parameters
    ----------
    payments : sequence of Payment
        Those in a canonical block, of all kinds, oldest first.
    refunds : sequence of Refund
        What was asked for, oldest first.
    quotes : sequence
        What its payers were given; see `api.services.orders.quoted`.
    """

    payments: Sequence[Payment] = ()
    refunds: Sequence[Refund] = ()
    quotes: Sequence[Any] = ()

    @property
    def received(self) -> list[Payment]:
        """What reached the merchant, whichever token it is."""
        return [row for row in self.payments if row.kind == TransferKind.PAYMENT]

    def find_public_id(self, payment_id: int) -> str:
        """Return the public id of a payment that reached the merchant; empty where its chain has lost it."""
        return self._public_ids.get(payment_id, "")

    def find_origin(self, payment: Payment) -> Payment | None:
        """Return by what its payer parted with it: of what a bridge delivered, the deposit; None where unknown."""
        deposit = self._deposits.get(payment.bridge_id or payment.source_tx_hash or "")
        return deposit or (None if payment.bridge_id else payment)

    def find_unfinal(self, payment: Payment) -> Payment | None:
        """Return what of a payment its chain may still lose: itself, or the deposit that it counts by; None of nothing.

        A delivery is taken from its order when its deposit is lost, however final it is on its own chain.
        """
        if payment.state != PaymentState.FINAL:
            return payment
        if payment.evidence != Evidence.BRIDGE:
            return None
        deposit = self._sources.get((payment.source_chain_id, payment.source_tx_hash), payment)
        return None if deposit.kind == TransferKind.DEPOSIT and deposit.state == PaymentState.FINAL else deposit

    def find_quote(self, row: Payment) -> Any | None:
        """Return by which quote a payer sent something, a deposit or a payment; None where no quote fits."""
        if not self.quotes or row.kind not in (TransferKind.DEPOSIT, TransferKind.PAYMENT):
            return None
        arrived: int | None = row.amount
        if row.kind == TransferKind.DEPOSIT:
            arrived = self._delivered.get(row.id)
            is_known = row.is_built or arrived is not None
        else:
            is_known = row.source_tx_hash is None
        return choose_quote(self._given.get((row.order_id or "", row.sender), ()), row, arrived) if is_known else None

    def asked_back(self, payment_id: int) -> int:
        """Return how much of a payment the merchant wants to send back, or has sent beyond that; smallest units."""
        return self._asked_back.get(payment_id, 0)

    def sent_back(self, payment_id: int) -> int:
        """Return how much of a payment the merchant has sent back for good, smallest units."""
        return sum(self.count_sent(refund, COUNTED) for refund in self._refunds_of.get(payment_id, ()))

    def may_go_back(self, payment_id: int) -> int:
        """Return how much of a payment was ever asked back or sent: who was to sign that may have done so."""
        refunds = self._refunds_of.get(payment_id, ())
        return sum(max(refund.amount, self.count_sent(refund)) for refund in refunds)

    def list_sent(self, refund: Refund) -> list[Payment]:
        """Return the transfers by which the merchant has sent a refund."""
        return self._sent_for.get(refund.id, [])

    def count_sent(self, refund: Refund, states: Collection[str] = CHECKED | {PaymentState.FINAL}) -> int:
        """Return how much of a refund was sent: what its transfers took from the merchant, in smallest units.

        Parameters
        ----------
        states : collection of PaymentState
            Which of its transfers count; all that lie in a block without it.
        """
        return sum(row.amount for row in self.list_sent(refund) if row.state in states)

    def count_unsent(self, refund: Refund) -> int:
        """Return how much of a refund is to be sent still: never what another one has sent of the same payment."""
        if refund.cancelled_at:
            return 0
        return max(0, min(refund.amount - self.count_sent(refund), self._kept.get(refund.payment_id, 0)))

    def is_final(self, refund: Refund) -> bool:
        """Whether all of a refund was sent for good."""
        return self.count_sent(refund, {PaymentState.FINAL}) >= refund.amount

    def is_awaited(self, refund: Refund) -> bool:
        """Whether a refund is neither final nor cancelled."""
        return not (refund.cancelled_at or self.is_final(refund))

    def is_open(self, refund: Refund) -> bool:
        """Whether some of a refund is to be sent still, or could still be lost."""
        is_sent = self.count_sent(refund) >= refund.amount
        return not self.is_final(refund) if is_sent else self.count_unsent(refund) > 0

    @cached_property
    def _asked_back(self) -> Mapping[int, int]:
        """What goes back of each transfer, or went beyond that, by the key of its row; made once."""
        return {
            key: sum(max(0 if row.cancelled_at else row.amount, self.count_sent(row)) for row in refunds)
            for key, refunds in self._refunds_of.items()
        }

    @cached_property
    def _kept(self) -> Mapping[int, int]:
        """What is left of each transfer that reached the merchant, by the key of its row; made once for all refunds."""
        sent = {key: sum(map(self.count_sent, refunds)) for key, refunds in self._refunds_of.items()}
        return {row.id: row.amount - sent.get(row.id, 0) for row in self.received}

    @cached_property
    def _public_ids(self) -> Mapping[int, str]:
        """Made once: each refund asks for one."""
        return {row.id: row.public_id for row in self.received}

    @cached_property
    def _deposits(self) -> Mapping[str, Payment]:
        """Deposits by what their deliveries know of them; made once."""
        return {row.bridge_id or row.tx_hash: row for row in self.payments if row.kind == TransferKind.DEPOSIT}

    @cached_property
    def _sources(self) -> Mapping[tuple[int | None, str | None], Payment]:
        """Deposits by their transactions, of several the one that may still be lost; made once."""
        deposits = [row for row in self.payments if row.kind == TransferKind.DEPOSIT]
        deposits.sort(key=lambda row: row.state != PaymentState.FINAL)
        return {(row.chain_id, row.tx_hash): row for row in deposits}

    @cached_property
    def _delivered(self) -> Mapping[int, int]:
        """What the merchant got for each deposit, by the key of its row; made once."""
        origins = ((self.find_origin(row), row.amount) for row in self.received)
        return {row.id: amount for row, amount in origins if row is not None and row.kind == TransferKind.DEPOSIT}

    @cached_property
    def _given(self) -> Mapping[Payer, list[Any]]:
        return group_by_payer(self.quotes)

    @cached_property
    def _refunds_of(self) -> Mapping[int, list[Refund]]:
        """Refunds by the payment that they are about; anybody can make an order have thousands of payments."""
        found: dict[int, list[Refund]] = defaultdict(list)
        for row in self.refunds:
            found[row.payment_id].append(row)
        return found

    @cached_property
    def _sent_for(self) -> Mapping[int, list[Payment]]:
        """Transfers by the refund that they have sent."""
        found: dict[int, list[Payment]] = defaultdict(list)
        for row in self.payments:
            if row.refund_id is not None:
                found[row.refund_id].append(row)
        return found


NO_MONEY = Money()


def load_money(session: Session, order_ids: Collection[str]) -> Mapping[str, Money]:
    """Return what moved for each of these orders."""
    if not order_ids:
        return {}
    payments: dict[str, list[Payment]] = defaultdict(list)
    for row in session.scalars(_PAYMENTS, {"order_ids": tuple(order_ids)}):
        payments[row.order_id or ""].append(row)
    refunds: dict[str, list[Refund]] = defaultdict(list)
    if payments:  # nothing is sent back of nothing
        for refund in session.scalars(select(Refund).where(Refund.order_id.in_(payments)).order_by(Refund.id)):
            refunds[refund.order_id].append(refund)
    quotes: dict[str, list[Any]] = defaultdict(list)
    for quote in load_given(session, payments):
        quotes[quote.order_id].append(quote)
    return {
        order_id: Money(
            payments=payments.get(order_id, ()), refunds=refunds.get(order_id, ()), quotes=quotes.get(order_id, ())
        )
        for order_id in order_ids
    }


def sum_funds(order: PaymentOrder, money: Money) -> Funds:
    """Add up what moved for an order; what went back is counted by the payment that it is of."""
    rows = (row for row in money.payments if row.kind != TransferKind.REFUND)
    return add_up((_make_credit(order, row, money) for row in rows), order.settlement_amount)


def is_credited(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment's amount counts towards the price: the token asked for, on the chain asked for."""
    return (
        payment.kind == TransferKind.PAYMENT
        and payment.chain_id == order.settlement_chain_id
        and payment.token_address == order.settlement_token_address
    )


def _make_credit(order: PaymentOrder, row: Payment, money: Money) -> Credit:
    is_wanted = is_credited(order, row)
    return Credit(
        kind=TransferKind(row.kind),
        amount=row.amount,
        is_settlement_token=is_wanted,
        is_final=row.state in COUNTED,
        mined_at=row.mined_at,
        bridge_key=row.bridge_id or row.source_tx_hash or row.tx_hash,
        is_built=row.is_built,
        is_overdue=row.is_overdue,
        is_rejected=row.is_rejected,
        is_after_close=row.is_after_close,
        is_notable=is_wanted or row.kind != TransferKind.PAYMENT or is_notable(order, row),
        asked_back=money.asked_back(row.id),
        sent_back=money.sent_back(row.id),
        firm=0 if money.find_unfinal(row) else max(0, row.amount - money.may_go_back(row.id)),
    )
