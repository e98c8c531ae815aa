"""Permit2 (Uniswap/permit2, ``AllowanceTransfer``): it may take the payer's tokens, for whom the payer names to it."""

from __future__ import annotations

from adapters.rpc.abi import Call, Function
from adapters.transactions.base import Purpose, Spending, Transaction

APPROVE = Function("approve(address,address,uint160,uint48)")
"""Token, spender, amount, until when; selector 87517c45."""
ALLOWANCE = Function("allowance(address,address,address)", "uint160", "uint48", "uint48")
"""Owner, token, spender; amount, until when, nonce. Selector 927da105."""


def build_grants(spending: Spending, granted: int) -> tuple[Transaction, ...]:
    """Return what names the spending's user to Permit2, for the exact amount and no longer than it takes.

    Parameters
    ----------
    spending : Spending
        What is needed; its spender is Permit2, unless it has no user.
    granted : int
        What the user may take now.
    """
    if not spending.user or granted >= spending.amount:
        return ()
    token, permit2 = spending.token, spending.spender
    data = APPROVE(permit2, token.address, spending.user, spending.amount, spending.until).data
    return (Transaction(purpose=Purpose.APPROVE, chain_id=token.chain_id, to=permit2, data=data),)


def make_granted_call(spending: Spending, payer: str) -> Call:
    """Return the question how much the user may take now, and until when."""
    return ALLOWANCE(spending.spender, payer, spending.token.address, spending.user)
