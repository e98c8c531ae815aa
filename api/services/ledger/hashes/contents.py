"""Whether a block was told with all its transactions: plain coin is in no event and no bloom, so nothing else tells."""

from __future__ import annotations

from adapters.base import BadPayload
from api.services.ledger.hashes.receipts import check_header
from api.services.ledger.hashes.transactions import check_transactions
from api.services.ledger.rpc_records import FullBlock


def is_whole(told: FullBlock, *, is_rehearsal: bool) -> bool:
    """Whether what was told of a block hashes to it: its transactions to their root, and the header to its hash.

    Each transaction must have its own hash as well: under another one its receipt would be another's.

    False also where it has a transaction, or a field, that is not known here: then others have to be asked (ADR 146).
    """
    try:
        check_header(told.header, told.block.hash)
        check_transactions(told.header, {}, is_rehearsal=is_rehearsal)
    except BadPayload:
        return False
    return True
