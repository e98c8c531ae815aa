"""Find a vendor's orders: newest first, page by page."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, or_, select

from api.domain.env import EnvMode
from api.domain.ids import IdPrefix, find_first_id
from api.domain.order_filter import OrderFilter
from api.domain.payments import Evidence, PaymentState
from api.domain.transfers import TransferKind
from api.services.orders.metadata_index import match_metadata
from api.storage.tables import Payment, PaymentOrder


def build_conditions(vendor_id: str, env_mode: EnvMode, wanted: OrderFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a vendor's orders in one environment that have what is wanted."""
    return [
        PaymentOrder.vendor_id == vendor_id,
        PaymentOrder.env_mode == env_mode,
        *([PaymentOrder.status.in_(wanted.status)] if wanted.status else ()),
        *([PaymentOrder.status_reason.in_(wanted.status_reason)] if wanted.status_reason else ()),
        *_limit_moments(wanted),
        *match_metadata(vendor_id, env_mode, wanted.metadata),
        *([_has_payment(_is_paid_by(wanted.payer))] if wanted.payer else ()),
        *([_has_payment(Payment.tx_hash == wanted.transaction_hash)] if wanted.transaction_hash else ()),
    ]


def continue_after(cursor: str | None) -> list[ColumnElement[bool]]:
    """Return the condition of the next page; none for the first."""
    return [] if cursor is None else [PaymentOrder.id < cursor]


def _limit_moments(wanted: OrderFilter) -> list[ColumnElement[bool]]:
    """Limit when orders were made and changed; ids begin with the time of making, so their index serves for it."""
    found: list[ColumnElement[bool]] = []
    if wanted.created_from is not None:
        first = find_first_id(IdPrefix.ORDER, wanted.created_from)
        found += [PaymentOrder.created_at >= wanted.created_from, PaymentOrder.id >= first]
    if wanted.created_to is not None:
        after = find_first_id(IdPrefix.ORDER, wanted.created_to, later_ms=1)
        found += [PaymentOrder.created_at < wanted.created_to, PaymentOrder.id < after]
    if wanted.updated_from is not None:
        found.append(PaymentOrder.updated_at >= wanted.updated_from)
    if wanted.updated_to is not None:
        found.append(PaymentOrder.updated_at < wanted.updated_to)
    return found


def _has_payment(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether one of an order's transfers fits; also one that its chain has lost, since the timeline may name it."""
    return PaymentOrder.id.in_(
        select(Payment.order_id).where(condition, Payment.order_id.is_not(None), Payment.state != PaymentState.DISPUTED)
    )


def _is_paid_by(address: str) -> ColumnElement[bool]:
    """Whether an address paid; who delivers for a bridge has not paid, but whoever put the money into it."""
    is_own = and_(Payment.kind == TransferKind.PAYMENT, Payment.evidence != Evidence.BRIDGE)
    return and_(Payment.sender == address, or_(Payment.kind == TransferKind.DEPOSIT, is_own))
