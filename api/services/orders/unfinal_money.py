"""Money that its chain may lose still, which is not sent back yet."""

from __future__ import annotations

from datetime import datetime

from api.domain.confirmations import estimate_final_in_s
from api.domain.errors import Conflict, Problem
from api.domain.ledger import Ledger
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.storage.tables import Payment


def refuse_unfinal(row: Payment, now: datetime, ledger: Ledger | None) -> Conflict:
    """Say when to ask again for what is not final, if that helps: not for what is gone, nor where nobody looks.

    Parameters
    ----------
    row : Payment
        What a chain may lose: a payment, or the deposit that it counts by.
    ledger : Ledger or None
        The chains that are connected.
    """
    if ledger is not None and row.chain_id not in ledger.chain_ids:
        problem = Problem(
            path="transfer", message="Send it from your wallet by hand, or have the chain connected again"
        )
        return Conflict(f"{row.tx_hash} was not final when chain {row.chain_id} was disconnected here", problem)
    message = f"{row.tx_hash} is not final on chain {row.chain_id} yet: it could be lost after it was sent back"
    whose = "its deposit is final on its own chain" if row.kind == TransferKind.DEPOSIT else "its `status` is final"
    problem = Problem(path="transfer", message=f"Ask again once {whose}")
    age_s = (now - row.mined_at).total_seconds()
    is_simulated = ledger is not None and ledger.is_simulated
    wait_s = estimate_final_in_s(row.chain_id, age_s, is_simulated=is_simulated)
    return Conflict(message, problem, retry_after_s=None if row.state in GONE else wait_s)
