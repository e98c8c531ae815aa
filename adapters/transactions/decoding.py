"""What a transaction pays by its calldata alone: calls that the installed builders make, read back.

Only calls of contracts that are listed, encoded just as the builders encode them, and with nothing or a reference
behind them. What such a call pays follows from the contract's code, whatever the tokens in it do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from adapters.transactions.decoded import CallReader, DecodedPayment
from adapters.transactions.intermediaries import Intermediaries
from adapters.transactions.payment_builders import PaymentBuilders

LONGEST = 8_192
"""Bytes of calldata that are read: what the builders make is shorter, and lists may point to one part many times."""


def decode_payment(chain_id: int, contract: str, calldata: bytes) -> DecodedPayment | None:
    """Return what a call of a listed contract pays, or None if it is not one of those that are built here."""
    reader = find_paying_contracts(chain_id).get(contract)
    return reader(contract, calldata) if reader is not None and len(calldata) <= LONGEST else None


@cache
def find_paying_contracts(chain_id: int) -> Mapping[str, CallReader]:
    """Return the contracts of a chain that the installed builders call, and what reads such calls back."""
    return PaymentBuilders.load().find_call_readers(chain_id)


@cache
def find_intermediaries(chain_id: int) -> Intermediaries:
    """Return what the payments of the installed builders pass through on a chain."""
    return PaymentBuilders.load().find_intermediaries(chain_id)
