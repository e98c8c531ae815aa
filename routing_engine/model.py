"""The words of this library: token, fee, hop, and the protocol that every market keeps.

All amounts are `int`, in the token's smallest unit. Nothing here knows how any market works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from routing_engine.amounts import parse_whole, read_units, write_short
from routing_engine.token_fields import check_chain_id, check_decimals, check_symbol, read_address
from routing_engine.values import seal

if TYPE_CHECKING:
    from routing_engine.curves.curve import Curve

NATIVE_ADDRESS = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
"""A chain's native coin has no contract; this address, in lower case, stands for it everywhere in the engine."""

ZERO_ADDRESS = "0x" + "0" * 40
"""Alias of `NATIVE_ADDRESS` in some protocols' own data (Uniswap v4, Fluid, Ekubo)."""

UNLIMITED = 2**256 - 1
"""The largest amount any contract can be given."""

MAX_DECIMALS = 77
"""With more decimals, not even one whole token would fit into an amount."""


class Transfers(StrEnum):
    """How a token's contract moves amounts."""

    EXACT = "exact"
    """What is sent arrives, and balances change by transfers only."""
    FEE_ON_TRANSFER = "fee_on_transfer"
    """Less arrives than was sent."""
    REBASING = "rebasing"
    """Balances change without a transfer."""


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token on one chain: the node of the graph.

    Two tokens are the same when chain and address are; the rest describes it.

    Parameters
    ----------
    chain_id : int
        EIP-155 chain id, at least 1.
    address : str
        Contract address, ``0x`` and 40 hex digits, kept in lower case; `NATIVE_ADDRESS` for the native coin.
    symbol : str
        As the contract says it; not unique.
    decimals : int
        One whole token is ``10**decimals`` smallest units; 0 to 77, as of more no amount holds a whole token.
    transfers : Transfers
        What its source says of them; `transfers.transfers_of` also knows some contracts.

    Raises
    ------
    InvalidRequest
        Naming the field, if it is no chain id, no address, no text, or not such decimals.
    """

    chain_id: int
    address: str
    symbol: str = field(compare=False)
    decimals: int = field(compare=False)
    transfers: Transfers = field(default=Transfers.EXACT, compare=False)

    def __post_init__(self) -> None:
        check_chain_id(self.chain_id)
        object.__setattr__(self, "address", read_address(self.address))
        check_symbol(self.symbol)
        check_decimals(self.decimals, MAX_DECIMALS)

    def __eq__(self, other: object) -> bool:
        if self is other:  # most often, as tokens are shared; routes compare many
            return True
        if not isinstance(other, Token):
            return NotImplemented
        return self.address == other.address and self.chain_id == other.chain_id

    def units(self, amount: str | int | Decimal) -> int:
        """Return whole tokens in smallest units: ``usdc.units("1.5")`` is 1,500,000; `parse_whole` refuses a float."""
        return parse_whole(amount, self.decimals, str(self))

    def show(self, amount: int) -> str:
        """Return smallest units for people: ``usdc.show(1_500_000)`` is ``1.5 USDC@1``; a float is refused."""
        return f"{write_short(read_units(amount, str(self)), self.decimals)} {self}"

    @property
    def key(self) -> str:
        """``address@chain``: unique, and what the command line accepts."""
        return f"{self.address}@{self.chain_id}"

    @property
    def is_native(self) -> bool:
        """Whether this is the chain's own coin rather than a contract."""
        return self.address == NATIVE_ADDRESS

    def __str__(self) -> str:
        return f"{self.symbol}@{self.chain_id}"


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """One named part of what a hop costs; where `included`, `Hop.amount_out` is what remains after it."""

    amount: int
    token: Token
    name: str
    included: bool = True


@seal
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hop:
    """What one market did, or would do, to one amount.

    Parameters
    ----------
    market_id, protocol : str
        Which market, and the protocol it belongs to.
    token_in, token_out : Token
        Direction.
    amount_in, amount_out : int
        Smallest units. `amount_out` is what is received, after all included fees.
    fees : tuple of Fee
        Itemised.
    gas : int
        Gas units on the chain of `token_in`, an estimate.
    fill_time_s : int
        Seconds from the transaction's inclusion until `amount_out` can be used; 0 within one transaction.
    spot_price : float
        Units of `token_out` per unit of `token_in` for a vanishing amount, after proportional fees; informational.
    """

    market_id: str
    protocol: str
    token_in: Token
    token_out: Token
    amount_in: int
    amount_out: int
    fees: tuple[Fee, ...] = ()
    gas: int = 0
    fill_time_s: int = 0
    spot_price: float = 0.0

    @property
    def is_bridge(self) -> bool:
        """Whether the hop leaves its chain, and so ends its transaction."""
        return self.token_in.chain_id != self.token_out.chain_id

    @property
    def price_impact(self) -> float:
        """Fraction lost against the spot price because of the amount's size; never negative."""
        ideal = self.amount_in * self.spot_price
        return max(0.0, 1.0 - self.amount_out / ideal) if ideal > 0 else 0.0

    def __repr__(self) -> str:
        paid, received = self.token_in.show(self.amount_in), self.token_out.show(self.amount_out)
        return f"Hop({paid} → {received}; {self.protocol} {self.market_id})"


@dataclass(frozen=True, slots=True)
class Limits:
    """The amounts of `token_in` that a market accepts, both ends included, in smallest units."""

    min_amount_in: int = 1
    max_amount_in: int = UNLIMITED


class Market(Protocol):
    """A pool, or one lane of a bridge: an immutable value that quotes exactly and returns its next state.

    Every amount equals what the contract would do. A market that cannot serve an amount raises `QuoteRefused` with a
    reason; it never returns a smaller fill. `markets.common.base.BaseMarket` has what every kind needs.
    """

    kind: ClassVar[str]
    """What reads its record again: the name of an installed kind."""

    is_wrap: ClassVar[bool]
    """Whether it only turns a chain's coin into its wrapped token and back, one for one."""

    is_constant_product: ClassVar[bool]
    """Whether its whole curve is that of a Uniswap v2 pair, by `reserve0`, `reserve1`, `fee_pips` and `gas`."""

    @property
    def id(self) -> str:
        """Unique in a snapshot: ``<chain>:<address or pool id>`` for pools."""

    @property
    def protocol(self) -> str:
        """Short name, e.g. ``uniswap_v3``; what requests allow and deny."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens it holds or joins."""

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Directions it can serve in its present state, as (token_in, token_out)."""

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; give the hop and the market after it.

        Raises
        ------
        QuoteRefused
            If it declines this amount or pair.
        """

    def quote_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> Hop:
        """Return the hop of `swap_exact_in` alone: routes need no market after it."""

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input that suffices.

        The hop is that of `swap_exact_in` with this least input, so its `amount_out` may exceed what was asked by
        rounding.

        Raises
        ------
        QuoteRefused
            If no input gives that much, or it declines the pair.
        """

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Bounds on the input."""

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price of the next unit, after proportional fees, smallest unit out per smallest unit in."""

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the same function in float64, for kernels that choose."""

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; integers beyond 2**53 as digit strings."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; `tokens` maps `Token.key` to tokens."""
