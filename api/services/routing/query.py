"""What a caller of routes and quotes asks, in the engine's terms, and how much may be done for it."""

from __future__ import annotations

from dataclasses import dataclass

from api.services.routing.token_serializers import is_stable
from routing_engine import RouteRequest, Side, Token

BPS = 10_000
STABLE_SLIPPAGE_BPS = 30
SLIPPAGE_BPS = 50
MAX_SLIPPAGE_BPS = 300

ANSWER_WORK = 400
"""Work after which an answer gets no better, about milliseconds: a hundred paths for a fortune would take a minute.

It goes into every request to the router, with no budget of time: so what was answered can be answered again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteQuery:
    """A request to the router, and how far the amount that is not fixed may move until it is executed.

    Parameters
    ----------
    request : RouteRequest
        For the router.
    slippage_bps : int
        Tolerated loss, in 1/10000.
    tokens_once : bool
        Whether the answer describes each token once, and names it elsewhere by its key.
    payer, recipient : str
        Whose wallet executes the route and who gets its output, in lower case; empty where it is only looked at.
    """

    request: RouteRequest
    slippage_bps: int
    tokens_once: bool = False
    payer: str = ""
    recipient: str = ""

    def least_out(self, amount_out: int) -> int:
        """Return what must at least arrive: rounded down; just what was asked for where the output is fixed."""
        if self.request.side == Side.EXACT_OUT:
            return self.request.amount
        return amount_out * (BPS - self.slippage_bps) // BPS

    def most_in(self, amount_in: int) -> int:
        """Return what may at most be spent: rounded up; just what was offered where the input is fixed."""
        if self.request.side == Side.EXACT_IN:
            return amount_in
        return -(-amount_in * (BPS + self.slippage_bps) // BPS)


def choose_slippage_bps(token_in: Token, token_out: Token) -> int:
    """Return the tolerance between two tokens: less where both are stablecoins."""
    return STABLE_SLIPPAGE_BPS if is_stable(token_in) and is_stable(token_out) else SLIPPAGE_BPS
