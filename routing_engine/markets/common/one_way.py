"""What every market of a single direction needs: the lanes of bridges, and quotes by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routing_engine.errors import Refusal
from routing_engine.markets.common.base import BaseMarket, is_open
from routing_engine.model import NATIVE_ADDRESS, Fee, Token
from routing_engine.reference.chains import CHAINS


class OneWayMarket(BaseMarket):
    """A market that turns `token_in` into `token_out`, and not back; both are fields of the kind."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def token_in(self) -> Token: ...  # noqa: D102

        @property
        def token_out(self) -> Token: ...  # noqa: D102

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token_in, self.token_out)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Give the one direction, while it is open."""
        edge = (self.token_in, self.token_out)
        return (edge,) if is_open(self.limits(*edge)) else ()

    def require_direction(self, token_in: Token, token_out: Token) -> None:
        """Raise `QuoteRefused` unless the tokens are the market's, in its direction."""
        if token_in != self.token_in or token_out != self.token_out:
            self.refuse(Refusal.UNSUPPORTED_PAIR, f"carries only {self.token_in} to {self.token_out}")


def itemise_native_fee(chain_id: int, amount: int) -> tuple[Fee, ...]:
    """Itemise what is paid on top in a chain's coin, for the message to the other chain or to the protocol."""
    if amount == 0:
        return ()
    chain = CHAINS.get(chain_id)
    coin = chain.native_token if chain else Token(chain_id=chain_id, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
    return (Fee(amount=amount, token=coin, name="message_fee", included=False),)
