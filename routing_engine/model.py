"""The words of this library: token, fee and hop.

All amounts are `int`, in the token's smallest unit. Nothing here knows how any market works.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, SupportsIndex, overload

from routing_engine.amounts import parse_whole, read_units, write_short
from routing_engine.token_fields import (
    Transfers,
    check_chain_id,
    check_decimals,
    check_symbol,
    check_transfers,
    printable,
    read_address,
)
from routing_engine.values import seal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from routing_engine.amount_arrays import Number

NATIVE_ADDRESS = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
"""A chain's native coin has no contract; this address, in lower case, stands for it everywhere in the engine."""

ZERO_ADDRESS = "0x" + "0" * 40
"""Alias of `NATIVE_ADDRESS` in some protocols' own data (Uniswap v4, Fluid, Ekubo)."""

MAX_DECIMALS = 77
"""With more decimals, not even one whole token would fit into an amount."""


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

    Examples
    --------
    >>> usdc = Token(chain_id=1, address="0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", symbol="USDC", decimals=6)
    >>> usdc.units("1.5")
    1500000
    >>> usdc.show(1_500_000)
    '1.5 USDC@1'
    >>> usdc.round_units([0.1, 2.5]).tolist()
    [100000, 2500000]
    >>> usdc.to_whole(1_500_000)
    1.5
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
        check_transfers(self.transfers)

    def __eq__(self, other: object) -> bool:
        if self is other:  # most often, as tokens are shared; routes compare many
            return True
        if not isinstance(other, Token):
            return NotImplemented
        return self.address == other.address and self.chain_id == other.chain_id

    def units(self, amount: str | Decimal | SupportsIndex) -> int:
        """Return whole tokens in smallest units: ``usdc.units("1.5")`` is 1,500,000; `parse_whole` refuses a float."""
        return parse_whole(amount, self.decimals, str(self))

    def show(self, amount: int) -> str:
        """Return smallest units for people: ``usdc.show(1_500_000)`` is ``1.5 USDC@1``; a float is refused."""
        return f"{write_short(read_units(amount, str(self)), self.decimals)} {self}"

    @overload
    def to_whole(self, amount: SupportsIndex) -> float: ...
    @overload
    def to_whole(self, amount: Iterable[SupportsIndex]) -> npt.NDArray[np.float64]: ...
    def to_whole(self, amount: SupportsIndex | Iterable[SupportsIndex]) -> float | npt.NDArray[np.float64]:
        """Return smallest units as whole tokens to calculate with, in float64: of an array, an array."""
        from routing_engine.amount_arrays import divide_units  # a command that only helps needs no numpy

        return divide_units(amount, self.decimals)

    @overload
    def round_units(self, whole: Number) -> int: ...
    @overload
    def round_units(self, whole: Iterable[Number]) -> npt.NDArray[np.object_]: ...
    def round_units(self, whole: Number | Iterable[Number]) -> int | npt.NDArray[np.object_]:
        """Return whole tokens, also floats, in smallest units; of an array, an array of ints that never overflow."""
        from routing_engine.amount_arrays import round_whole

        return round_whole(whole, self.decimals, str(self))

    @property
    def key(self) -> str:
        """``address@chain``: unique, and what the command line accepts."""
        return f"{self.address}@{self.chain_id}"

    @property
    def is_native(self) -> bool:
        """Whether this is the chain's own coin rather than a contract."""
        return self.address == NATIVE_ADDRESS

    def __str__(self) -> str:
        return f"{printable(self.symbol)}@{self.chain_id}"


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
