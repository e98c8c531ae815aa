"""Transfers and allowances of ERC-20 tokens (EIP-20), and transfers of a chain's coin."""

from __future__ import annotations

from adapters.rpc.abi import Call, Function
from adapters.transactions.base import PaymentCall, Purpose, Spending, Transaction
from routing_engine.model import Token

TRANSFER = Function("transfer(address,uint256)", "bool")
"""Selector a9059cbb."""
APPROVE = Function("approve(address,uint256)", "bool")
"""Selector 095ea7b3."""
ALLOWANCE = Function("allowance(address,address)", "uint256")
"""Selector dd62ed3e."""
BALANCE_OF = Function("balanceOf(address)", "uint256")
"""Selector 70a08231."""


def make_transfer(token: Token, recipient: str, amount: int) -> PaymentCall:
    """Return the call that sends a token, or the chain's coin, to somebody."""
    if token.is_native:
        return PaymentCall(chain_id=token.chain_id, to=recipient, data=b"", value=amount)
    return PaymentCall(chain_id=token.chain_id, to=token.address, data=TRANSFER(token.address, recipient, amount).data)


def build_approvals(spending: Spending, allowance: int) -> tuple[Transaction, ...]:
    """Return what makes an allowance just what is needed.

    A larger one is left alone: it was the payer's own decision. A smaller one is taken back first, since tokens such as
    USDT refuse to change one that is not zero.

    Parameters
    ----------
    spending : Spending
        What is needed.
    allowance : int
        What the spender may take now.
    """
    if allowance >= spending.amount:
        return ()
    given = _approve(spending, spending.amount, Purpose.APPROVE)
    return (_approve(spending, 0, Purpose.RESET), given) if allowance else (given,)


def make_allowance_call(spending: Spending, payer: str) -> Call:
    """Return the question how much the spender may take now."""
    return ALLOWANCE(spending.token.address, payer, spending.spender)


def _approve(spending: Spending, amount: int, purpose: Purpose) -> Transaction:
    token = spending.token
    data = APPROVE(token.address, spending.spender, amount).data
    return Transaction(purpose=purpose, chain_id=token.chain_id, to=token.address, data=data)
