"""What is offered of a leg: transactions that were tried, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from adapters.transactions.base import Spending, Transaction
from api.services.execution.legs import RouteLeg


class LegStatus(StrEnum):
    """Whether a leg can be signed, and if not, why."""

    READY = "ready"
    APPROVE_FIRST = "approve_first"
    AFTER_EARLIER_LEG = "after_earlier_leg"
    NO_BUILDER = "no_builder"
    BALANCE_TOO_LOW = "balance_too_low"
    WOULD_FAIL = "would_fail"
    PRICE_MOVED = "price_moved"
    BRIDGE_DECLINES = "bridge_declines"
    WALLET_REJECTED = "wallet_rejected"
    PAYER_CANNOT_RECEIVE = "payer_cannot_receive"
    CHAINS_SIMULATED = "chains_simulated"
    CHAIN_NOT_CONNECTED = "chain_not_connected"
    NO_ANSWER = "no_answer"
    BUSY = "busy"
    NOT_TRIED = "not_tried"


class Untried(Exception):
    """A leg is not offered; `status` says why in a word, `message` in a sentence that strangers may read."""

    def __init__(self, status: LegStatus, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True, kw_only=True)
class LegOffer:
    """A leg, and what a wallet signs for it.

    Parameters
    ----------
    leg : RouteLeg
        What it does.
    status : LegStatus
        Whether it can be signed.
    message : str
        Why not; empty where it can.
    sender, recipient : str
        Who signs, and who gets what it gives; in lower case.
    amount_in_max, amount_out_min : int
        The most that it spends and the least that it gives, smallest units.
    transactions : tuple of Transaction
        To be sent in this order; each was tried.
    spending : Spending or None
        The allowance that it needs, whether or not it is given already.
    deadline, fill_deadline : int or None
        Seconds since 1970 until which its contracts take it, and until which a bridge delivers.
    """

    leg: RouteLeg
    status: LegStatus
    message: str = ""
    sender: str
    recipient: str
    amount_in_max: int
    amount_out_min: int
    transactions: tuple[Transaction, ...] = ()
    spending: Spending | None = None
    deadline: int | None = None
    fill_deadline: int | None = None

    def describe(self, slippage_bps: int, valid_until: str) -> dict[str, Any]:
        """Return it as the interface shows it."""
        return {
            "steps": list(self.leg.steps),
            "status": self.status,
            "message": self.message,
            "fromChainId": self.leg.token_in.chain_id,
            "toChainId": self.leg.token_out.chain_id,
            "fromToken": self.leg.token_in.address,
            "toToken": self.leg.token_out.address,
            "sender": self.sender,
            "recipient": self.recipient,
            "inputAmountMax": str(self.amount_in_max),
            "outputAmountMin": str(self.amount_out_min),
            "slippageBps": slippage_bps,
            "approvals": list(_describe_approvals(self.spending)),
            "transactions": [_describe_transaction(each, self.sender) for each in self.transactions],
            "validUntil": valid_until,
            "deadline": _read_moment(self.deadline),
            "fillDeadline": _read_moment(self.fill_deadline),
        }


def _describe_approvals(spending: Spending | None) -> Iterator[Mapping[str, Any]]:
    if spending is None:
        return
    token, amount = spending.token.address, str(spending.amount)
    yield {"token": token, "spender": spending.spender, "amount": amount, "through": "", "until": None}
    if spending.user:
        yield {
            "token": token,
            "spender": spending.user,
            "amount": amount,
            "through": spending.spender,
            "until": _read_moment(spending.until),
        }


def _describe_transaction(transaction: Transaction, sender: str) -> dict[str, Any]:
    """Return a transaction as wallets take it, with numbers in hexadecimal."""
    return {
        "purpose": transaction.purpose,
        "chainId": transaction.chain_id,
        "from": sender,
        "to": transaction.to,
        "value": hex(transaction.value),
        "data": "0x" + transaction.data.hex(),
        "gasLimit": hex(transaction.gas or 0),
    }


def _read_moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
