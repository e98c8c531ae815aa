"""What every lane of a bridge needs."""

from __future__ import annotations

from typing import Protocol

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.model import NATIVE_ADDRESS, Fee, Token
from routing_engine.reference.chains import CHAINS


class Direction(Protocol):
    """A market that carries one token to one other."""

    @property
    def id(self) -> str:
        """As `Market.id`."""
        ...

    @property
    def token_in(self) -> Token:
        """The token it takes."""
        ...

    @property
    def token_out(self) -> Token:
        """The token it gives."""
        ...


def require_direction(lane: Direction, token_in: Token, token_out: Token) -> None:
    """Raise `QuoteRefused` unless the tokens are the lane's, in its direction."""
    if token_in != lane.token_in or token_out != lane.token_out:
        detail = f"carries only {lane.token_in} to {lane.token_out}"
        raise QuoteRefused(Refusal.UNSUPPORTED_PAIR, lane.id, detail)


def native_fees(chain_id: int, amount: int) -> tuple[Fee, ...]:
    """Itemise what is paid on top in a chain's coin, for the message to the other chain or to the protocol."""
    if amount == 0:
        return ()
    chain = CHAINS.get(chain_id)
    coin = chain.native_token if chain else Token(chain_id=chain_id, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
    return (Fee(amount=amount, token=coin, name="message_fee", included=False),)
