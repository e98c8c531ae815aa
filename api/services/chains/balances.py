"""What somebody holds on real chains: all chains at once, and no chain waits for another."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

import structlog

from adapters.base import AdapterError
from adapters.transactions.simulation import PaymentChain
from api.services.chains.inquiries import Inquiries
from routing_engine import Token

PATIENCE_S = 1.5
"""How long a customer waits for the slowest chain; what comes later is there for the next question."""
MOST_A_MINUTE = 300
"""Readings of one chain."""

log = structlog.get_logger(__name__)


class BalanceReader:
    """Reads balances; the same question again within seconds is put to no chain.

    Parameters
    ----------
    chains : mapping of int to PaymentChain
        By chain id.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(self, chains: Mapping[int, PaymentChain], *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._chains = chains
        self._inquiries: Inquiries[Mapping[Token, int]] = Inquiries(
            chains, most_a_minute=MOST_A_MINUTE, stopwatch=stopwatch
        )

    def read(
        self, wanted: Mapping[int, tuple[Token, ...]], holder: str, patience_s: float
    ) -> Mapping[int, Mapping[Token, int]]:
        """Return what somebody holds, by chain; a chain that has not answered in time is missing.

        Parameters
        ----------
        wanted : mapping of int to tuple of Token
            By chain id; the chain's coin among them, if it is wanted.
        holder : str
            Address in lower case.
        patience_s : float
            How long a reading may take, and so all of them together, which begin at once.
        """
        inquiries = {
            chain_id: self._inquiries.begin(chain_id, (holder, tokens), partial(self._ask, chain_id, tokens, holder))
            for chain_id, tokens in wanted.items()
        }
        found: dict[int, Mapping[Token, int]] = {}
        for chain_id, inquiry in inquiries.items():
            told = None if inquiry is None else self._inquiries.wait(inquiry, patience_s)
            if told is not None:
                found[chain_id] = told
        return found

    def _ask(self, chain_id: int, tokens: tuple[Token, ...], holder: str) -> Mapping[Token, int] | None:
        try:
            return self._chains[chain_id].read_balances(tokens, holder)
        except AdapterError as error:
            log.info("balances_unknown", chain_id=chain_id, reason=str(error))
            return None
