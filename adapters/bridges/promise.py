"""What a bridge promises for a deposit; it imports nothing, so that everybody may name it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a bridge is to deliver for a deposit: at least `amount` smallest units of a token, to whom and where.

    `only` says who alone may deliver it, or that there are other terms than the plain ones; empty where there are none.
    """

    chain_id: int
    token_address: str
    recipient: str
    amount: int
    only: str = ""
