"""States of an order and the money that has come for it, for tests of their rules alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from api.domain.funds import Credit, Funds
from api.domain.orders import OPEN, OrderState, OrderStatus, StatusReason
from api.domain.transfers import TransferKind

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXPIRY = START + timedelta(hours=24)
SOON = START + timedelta(minutes=5)
LATE = EXPIRY + timedelta(hours=1)
CLOSED = frozenset(OrderStatus) - OPEN


def order(status: str = "created", reason: str = "", amount: int | None = 100) -> OrderState:
    """Return an order that costs 100 units unless it is said otherwise."""
    return OrderState(status=OrderStatus(status), reason=StatusReason(reason), amount=amount, expires_at=EXPIRY)


def paid(seen: int, *, final: bool = True, at: datetime = SOON) -> Funds:
    """Return what an order has got that was sent so much."""
    counted = seen if final else 0
    return Funds(received=seen, final=counted, seen=seen, seen_final=counted, first_at=at)


moments = st.integers(0, 80).map(lambda hours: START + timedelta(hours=hours))


@st.composite
def transfers(draw: st.DrawFn) -> Credit:
    """Draw any transfer that an order can be credited with."""
    amount = draw(st.integers(1, 150))
    sent_back = draw(st.sampled_from([0, 0, amount // 2, amount]))
    return Credit(
        kind=draw(st.sampled_from(TransferKind)),
        amount=amount,
        is_settlement_token=draw(st.booleans()),
        is_final=draw(st.booleans()),
        bridge_key=draw(st.sampled_from(["d1", "d2", "p"])),
        is_built=draw(st.booleans()),
        is_overdue=draw(st.booleans()),
        is_rejected=draw(st.sampled_from([False, False, True])),
        is_after_close=draw(st.booleans()),
        is_notable=draw(st.booleans()),
        asked_back=draw(st.integers(sent_back, amount)),
        sent_back=sent_back,
        mined_at=draw(moments),
    )


def is_counted(row: Credit) -> bool:
    """Tell whether a transfer pays its order."""
    is_early = row.kind == TransferKind.PAYMENT and not row.is_after_close
    return is_early and row.is_settlement_token and not row.is_rejected
