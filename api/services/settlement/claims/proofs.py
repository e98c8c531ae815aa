"""How much must speak for a payment before it counts."""

from __future__ import annotations

from api.storage.tables import Payment


def is_proven(row: Payment, dollars: int | None, endpoints: int, doubted_above: int, *, is_final: bool) -> bool:
    """Whether enough speaks for a payment that was seen to let it count.

    An endpoint may lie. Small payments need either that all receipts of the block hash to its header's root, or another
    endpoint that says the same; large ones need both. What only a trace shows needs two equal traces if it is large.
    Where there is one endpoint, finality stands in for the second opinion.

    Parameters
    ----------
    dollars : int or None
        What waits, in whole dollars; None where nobody knows, which counts as large.
    endpoints : int
        How many the chain has; none where there is nothing to doubt.
    doubted_above : int
        Whole dollars above which a payment is large.
    """
    if endpoints == 0:
        return True
    is_large = dollars is None or dollars > doubted_above
    if not is_large:
        return row.has_receipt_proof or row.has_second_opinion
    if endpoints == 1:
        return row.has_receipt_proof and is_final
    return row.has_second_opinion and (row.has_receipt_proof or row.is_inner)
