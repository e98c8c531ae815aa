"""Payments that their payer proves by a signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from api.context import Context
from api.domain.errors import Conflict, Problem


class ClaimRefusal(StrEnum):
    """Why a signature does not make a transfer an order's."""

    UNAVAILABLE = "claims_unavailable"
    NO_TRANSFER = "no_such_transfer"
    OTHER_WALLET = "other_wallet"
    TOO_OLD = "older_than_order"
    BAD_SIGNATURE = "bad_signature"
    TAKEN = "belongs_to_another_order"


class ClaimRefused(Conflict):
    """A transfer can't be claimed; `reason` says why in a word, `message` in a sentence."""

    def __init__(self, reason: ClaimRefusal, message: str, *problems: Problem) -> None:
        super().__init__(message, *problems)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOffer:
    """A transfer that somebody may prove to be theirs.

    Parameters
    ----------
    log_index : int
        Tells the transfers of a transaction apart, as in `Transfer`.
    amount : int
        The token's smallest units.
    typed_data : mapping
        What ``eth_signTypedData_v4`` takes.
    """

    log_index: int
    token_address: str
    token_symbol: str
    decimals: int
    amount: int
    typed_data: Mapping[str, Any]


def prepare_claims(
    context: Context, order_id: str, *, chain_id: int, tx_hash: str, account: str
) -> tuple[ClaimOffer, ...]:
    """Return the transfers of a transaction that an account may claim for an order.

    Raises
    ------
    NotFound
        If there is no such order.
    ClaimRefused
        If there is none.
    """
    _refuse()


def submit_claim(
    context: Context, order_id: str, *, chain_id: int, tx_hash: str, log_index: int, account: str, signature: str
) -> None:
    """Take a signature by which an account says that a transfer pays an order.

    Raises
    ------
    NotFound
        If there is no such order.
    ClaimRefused
        If it is known already that it does not count.
    """
    _refuse()


def _refuse() -> NoReturn:
    raise ClaimRefused(ClaimRefusal.UNAVAILABLE, "Payments can't be claimed by signature here yet")
