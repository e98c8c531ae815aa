"""What every kind of market starts from: what follows from its fields and from the five methods that it must have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from routing_engine.errors import InvalidRequest, QuoteRefused, Refusal
from routing_engine.market import Limits
from routing_engine.markets.common.codecs import list_codecs
from routing_engine.model import Fee, Hop, Token

if TYPE_CHECKING:
    from routing_engine.curves.curve import Curve

CLOSED = Limits(1, 0)
"""The limits of a direction that takes no amount: minimum above maximum."""


class BaseMarket(ABC):
    """A `Market` in the making, for kinds inside and outside this library.

    A kind is a subclass, and a dataclass with ``frozen=True, slots=True, kw_only=True, repr=False``. It names itself
    (`kind`), declares its fields (`id`, `protocol` and its tokens among them), and has the five methods that are
    abstract here. Of the other methods of `Market` it replaces those that it can answer better.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """What its records call it, and the name of its entry point."""

    is_wrap: ClassVar[bool] = False
    """Whether it only turns a chain's coin into its wrapped token and back, one for one."""

    is_constant_product: ClassVar[bool] = False
    """Whether `reserve0`, `reserve1`, `fee_pips` and `gas` give its whole curve, by the rules of a Uniswap v2 pair."""

    has_depth: ClassVar[bool] = False
    """Whether its output grows in proportion where both the input and all that it holds do."""

    rounds_up: ClassVar[bool] = True
    """Whether rounding may give more than its curve, as where a fee is rounded down: certificates allow for it."""

    if TYPE_CHECKING:

        @property
        def id(self) -> str: ...  # noqa: D102

        @property
        def protocol(self) -> str: ...  # noqa: D102

        @property
        def tokens(self) -> tuple[Token, ...]: ...  # noqa: D102

    def quote_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> Hop:
        """Return the hop of `swap_exact_in` alone; a kind may spare what the market after it takes to build."""
        return self.swap_exact_in(token_in, token_out, amount_in)[0]

    @abstractmethod
    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`, to the unit as the contract does; give the hop and the market after it.

        Raises
        ------
        QuoteRefused
            If it declines this amount or pair: one of the methods ``refuse…`` says so.
        InvalidRequest
            If the amount is no integer: `refuse_inexact`, before anything else.
        """

    @abstractmethod
    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Return the least input that the market takes and that buys `amount_out`, which is positive; None without one.

        Raises
        ------
        QuoteRefused
            If the pair is not traded here.
        """

    @abstractmethod
    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Bounds on the input, both tight: the amounts next to them are refused.

        `CLOSED`, or another minimum above the maximum, where it takes no amount.

        Raises
        ------
        QuoteRefused
            If the pair is not traded here.
        """

    @abstractmethod
    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Smallest units of `token_out` per smallest unit of `token_in`, for a vanishing amount, after its fee.

        Raises
        ------
        QuoteRefused
            If the pair is not traded here.
        """

    @abstractmethod
    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the same function in float64; see `Market`."""

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Every ordered pair of its tokens that is open."""
        return tuple(pair for pair in permutations(self.tokens, 2) if is_open(self.limits(*pair)))

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input; see `Market`."""
        if type(amount_out) is not int:
            self.refuse_inexact(amount_out)
        least = self.least_input(token_in, token_out, amount_out) if amount_out > 0 else None
        if least is None:
            self.refuse_out(amount_out)
        return self.swap_exact_in(token_in, token_out, least)

    def validate(self) -> None:  # noqa: B027
        """Check what is too costly to check whenever a state is built; `from_record` calls it.

        Raises
        ------
        InvalidMarket
            With the field at fault.
        """

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state, field by field in their order; see `Market` and `codecs`."""
        record: dict[str, Any] = {"kind": self.kind}
        for field, codec in list_codecs(type(self)):
            codec.write(record, field, getattr(self, field))
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`, checked by `validate`; see `Market`."""
        market = cls(**{field: codec.read(record, field, tokens) for field, codec in list_codecs(cls)})
        market.validate()
        return market

    def make_hop(
        self,
        token_in: Token,
        token_out: Token,
        amount_in: int,
        amount_out: int,
        *,
        gas: int,
        spot_price: float,
        fees: tuple[Fee, ...] = (),
        fill_time_s: int = 0,
    ) -> Hop:
        """Return a hop over this market; parameters as `Hop` says."""
        return Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=fees,
            gas=gas,
            fill_time_s=fill_time_s,
            spot_price=spot_price,
        )

    def refuse(self, reason: Refusal, detail: str) -> NoReturn:
        """Raise `QuoteRefused` with a reason and what a reader can do about it."""
        raise QuoteRefused(reason, self.id, detail)

    def refuse_inexact(self, amount: object) -> NoReturn:
        """Raise `InvalidRequest` for an amount that is no integer, which every swap asks first."""
        raise InvalidRequest("amount", f"must be an int in smallest units, not {amount!r}; convert it exactly")

    def refuse_low(self, amount_in: int) -> NoReturn:
        """Raise `QuoteRefused` for an input that is not positive or buys less than one unit."""
        self.refuse(Refusal.AMOUNT_TOO_LOW, f"{amount_in} buys less than one unit")

    def refuse_out(self, amount_out: int) -> NoReturn:
        """Raise `QuoteRefused` for an output that no input buys."""
        if amount_out <= 0:
            self.refuse(Refusal.AMOUNT_TOO_LOW, f"the output must be at least one unit, not {amount_out}")
        self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, f"cannot give {amount_out}")

    def refuse_pair(self, token_in: Token, token_out: Token) -> NoReturn:
        """Raise `QuoteRefused` for tokens that are not traded here, or not in this direction."""
        self.refuse(Refusal.UNSUPPORTED_PAIR, f"{token_in} to {token_out} is not traded here")

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.tokens[:MAX_SHOWN])) + (", …" if len(self.tokens) > MAX_SHOWN else "")
        return f"{type(self).__name__}({self.id!r}, {names!r})"


MAX_SHOWN = 4
"""Tokens in the `repr` of a market."""


def is_open(limits: Limits) -> bool:
    """Tell whether a direction with these limits takes any amount."""
    return limits.min_amount_in <= limits.max_amount_in
