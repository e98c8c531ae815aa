"""Which tokens are left out before anything is written: those that are not listed, and no vendor was ever paid in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from api.domain.env import EnvMode
from api.domain.transfers import CanonicalBlock, Transfer, TransferKind
from api.domain.watched import AwaitedRefund, Move, Watched
from api.services.settlement.crediting.settled_tokens import leave_strange_tokens_out
from api.storage.tables import PaymentOrder, SettlementAccount
from tests.support.shop import Shop

CHAIN = 8453
VENDOR, CUSTOMER = "0x" + "a1" * 20, "0x" + "b2" * 20
OF_ORDER, LATER, OF_ACCOUNT, WORTHLESS = (f"0x{digit * 40}" for digit in "2489")


def make_transfer(token: str, recipient: str = VENDOR) -> Transfer:
    return Transfer(
        kind=TransferKind.PAYMENT,
        chain_id=CHAIN,
        block=CanonicalBlock(number=1, hash="0x01", mined_at=datetime(2026, 3, 1, tzinfo=UTC)),
        tx_hash="0x02",
        log_index=0,
        token_address=token,
        sender=VENDOR if recipient == CUSTOMER else CUSTOMER,
        recipient=recipient,
        amount=1,
    )


@pytest.fixture
def settled(shop: Shop) -> Shop:
    """A shop with orders in two tokens that its account has no more, and an account in a third."""
    orders = {shop.create(): OF_ORDER, shop.create(): LATER}
    with shop.resources.database.write() as session:
        for order_id, token in orders.items():
            values = {"settlement_chain_id": CHAIN, "settlement_token_address": token}
            session.execute(update(PaymentOrder).where(PaymentOrder.id == order_id).values(**values))
        session.execute(update(SettlementAccount).values(chain_id=CHAIN, token_address=OF_ACCOUNT))
    return shop


def keep(shop: Shop, *transfers: Transfer, env_mode: EnvMode = EnvMode.TEST, watched: Watched) -> list[str]:
    kept = leave_strange_tokens_out(shop.resources.database, env_mode, transfers, watched)
    return [each.token_address for each in kept]


def test_what_customers_were_shown_once_still_counts(settled: Shop) -> None:
    watched = Watched.at([VENDOR])
    transfers = [make_transfer(each) for each in (WORTHLESS, OF_ORDER, LATER, OF_ACCOUNT)]
    assert keep(settled, *transfers, watched=watched) == [OF_ORDER, LATER, OF_ACCOUNT]
    assert OF_ORDER not in keep(settled, *transfers, env_mode=EnvMode.LIVE, watched=watched)


def test_what_is_to_be_sent_back_counts_whichever_token_it_is(settled: Shop) -> None:
    move = Move(token_address=WORTHLESS, sender=VENDOR, recipient=CUSTOMER)
    watched = Watched(
        recipients=frozenset([VENDOR]), refunds=frozenset([AwaitedRefund(move=move, reference=b"r" * 16)])
    )
    assert keep(settled, make_transfer(WORTHLESS, CUSTOMER), make_transfer(WORTHLESS), watched=watched) == [WORTHLESS]
