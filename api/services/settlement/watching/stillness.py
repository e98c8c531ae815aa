"""Which chains need no look: nothing is due on them, and they say that nothing has happened since the last one."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, or_, select

from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.domain.payments import CHECKED
from api.services.resources import Resources
from api.services.settlement.watching.awaited_deliveries import AFTER_DEADLINE, select_awaited
from api.services.settlement.watching.watched_chain import CURSOR_EVERY
from api.storage.statements import Statement
from api.storage.tables import DoubtfulBlock, Payment, PaymentHint, WatchCursor


def list_still(resources: Resources, env_mode: EnvMode, ledger: Ledger, chain_ids: Collection[int]) -> frozenset[int]:
    """Return those of the chains at which a look would find nothing to do, and would write nothing.

    Two queries for all of them take the place of looks at each. A chain whose cursor is due to be written is not one.
    """
    now = resources.clock.now()
    values = {"env_mode": env_mode, "since": now - CURSOR_EVERY, "now": now, "oldest": now - AFTER_DEADLINE}
    with resources.database.look() as connection:
        rows = _IDLE.fetch(connection, values)
    reached = {row.chain_id: row.block_number for row in rows if row.chain_id in chain_ids}
    return ledger.list_still(reached) if reached else frozenset()


_CHAIN, _MODE = WatchCursor.chain_id, WatchCursor.env_mode
_NOW = bindparam("now", type_=WatchCursor.updated_at.type)
_CHECKED = select(Payment.id).where(
    or_(*(Payment.state == each for each in sorted(CHECKED))), Payment.chain_id == _CHAIN, Payment.env_mode == _MODE
)
_DOUBTS = select(DoubtfulBlock.number).where(
    DoubtfulBlock.env_mode == _MODE, DoubtfulBlock.chain_id == _CHAIN, DoubtfulBlock.next_try_at <= _NOW
)
_HINTS = select(PaymentHint.tx_hash).where(
    PaymentHint.env_mode == _MODE, PaymentHint.chain_id == _CHAIN, PaymentHint.next_try_at <= _NOW
)
_IDLE = Statement(
    select(_CHAIN, WatchCursor.block_number).where(
        WatchCursor.env_mode == bindparam("env_mode", type_=WatchCursor.env_mode.type),
        WatchCursor.updated_at > bindparam("since", type_=WatchCursor.updated_at.type),
        WatchCursor.updated_at <= _NOW,
        WatchCursor.block_hash != "",
        ~_CHECKED.exists(),
        ~_DOUBTS.exists(),
        ~_HINTS.exists(),
        ~select_awaited(_MODE, _CHAIN).exists(),
    )
)
