"""The words of a batch auction: its orders, what there is to trade them on, and solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from routing_engine.market import Market
from routing_engine.model import Hop, Token
from routing_engine.values import seal


class OrderKind(StrEnum):
    """Which amount of an order is fixed."""

    SELL = "sell"
    BUY = "buy"


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class FeePolicy:
    """A protocol fee that the solver charges, where the driver leaves it to solvers.

    Parameters
    ----------
    surplus_factor : Fraction or None
        Part of the surplus over the reference, which is the limit, or a quote; None for a fee on volume alone.
    volume_factor : Fraction
        Part of the volume: the fee, or the most that it may be.
    quote : (int, int, int) or None
        What the best quote sold and bought, and its fee in the sell token; None where the reference is the limit.
    """

    surplus_factor: Fraction | None
    volume_factor: Fraction
    quote: tuple[int, int, int] | None = None


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionOrder:
    """A limit order.

    Parameters
    ----------
    uid : str
        56 bytes, hex digits in lower case.
    sell, buy : Token
        What its owner gives and gets.
    sell_amount, buy_amount : int
        Smallest units that are still open; their ratio is the limit.
    kind : OrderKind
        Which of the two is fixed.
    partially_fillable : bool
        Whether less than all may be filled.
    pays_gas : bool
        Whether the solver charges what its settlement costs: true for class ``limit``.
    fee_policies : tuple of FeePolicy
        Protocol fees that the solver charges.
    """

    uid: str
    sell: Token
    buy: Token
    sell_amount: int
    buy_amount: int
    kind: OrderKind
    partially_fillable: bool
    pays_gas: bool = True
    fee_policies: tuple[FeePolicy, ...] = ()

    @property
    def target(self) -> int:
        """The fixed amount: of the sell token for a sell order, of the buy token for a buy order."""
        return self.sell_amount if self.kind is OrderKind.SELL else self.buy_amount

    @property
    def surplus_token(self) -> Token:
        """In which its surplus is counted: the token whose amount is not fixed."""
        return self.buy if self.kind is OrderKind.SELL else self.sell


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of the request that cannot be used, and why."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Auction:
    """What is to be solved.

    Parameters
    ----------
    id : str or None
        The driver's number; None where it only wants a quote.
    orders : tuple of AuctionOrder
        With different uids.
    markets : tuple of Market
        The auction's liquidity; the id of each is the liquidity's.
    prices : mapping of Token to int
        Wei for 10**18 smallest units: the reference prices.
    gas_price : int
        Wei for a unit of gas.
    deadline : datetime
        Until when solutions are of use.
    skipped : tuple of Skipped
        What was left out when it was read.
    """

    id: str | None
    orders: tuple[AuctionOrder, ...]
    markets: tuple[Market, ...]
    prices: Mapping[Token, int]
    gas_price: int
    deadline: datetime
    skipped: tuple[Skipped, ...] = ()


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Fulfillment:
    """A trade that fulfils an order, in whole or in part.

    Parameters
    ----------
    order : AuctionOrder
        Which one.
    executed : int
        Of the sell token for a sell order, without the fee; of the buy token for a buy order.
    fee : int
        What the solver charges, in the sell token, on top of what is executed.
    """

    order: AuctionOrder
    executed: int
    fee: int = 0


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Trades at uniform prices, and the swaps that make them possible.

    Parameters
    ----------
    prices : mapping of Token to int
        The uniform clearing prices: amounts times prices are equal on both sides of a trade.
    trades : tuple of Fulfillment
        Each order once.
    hops : tuple of Hop
        The swaps, in the order in which they run; `Hop.market_id` is the id of the liquidity.
    gas : int
        Gas units of the whole settlement, an estimate.
    scores : tuple of int
        Of each trade, in wei: surplus, and protocol fees.
    """

    prices: Mapping[Token, int]
    trades: tuple[Fulfillment, ...]
    hops: tuple[Hop, ...]
    gas: int
    scores: tuple[int, ...]

    @property
    def score(self) -> int:
        """Wei: what solutions are ranked by."""
        return sum(self.scores)
