"""What a trade moves at uniform prices, its surplus and its score: the arithmetic of the driver and the contract.

Sources: ``trade.rs``, ``scoring.rs`` and ``fee.rs`` of the driver in cowprotocol/services, and ``GPv2Settlement.sol``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from routing_engine.auction.model import AuctionOrder, FeePolicy, Fulfillment, OrderKind
from routing_engine.fixed_point import div_up
from routing_engine.model import Token

PRICE_UNIT = 10**18
"""Reference prices are wei for so many smallest units."""

MOST = 2**256 - 1


@dataclass(frozen=True, slots=True)
class ExecutedAmounts:
    """What leaves the owner's wallet, fee included, and what arrives there; smallest units."""

    sold: int
    bought: int


def execute(trade: Fulfillment, prices: Mapping[Token, int]) -> ExecutedAmounts:
    """Return what a trade moves; division is rounded in favour of the owner, as the contract does."""
    order = trade.order
    sell_price, buy_price = prices[order.sell], prices[order.buy]
    if order.kind is OrderKind.SELL:
        return ExecutedAmounts(trade.executed + trade.fee, div_up(trade.executed * sell_price, buy_price))
    return ExecutedAmounts(trade.executed * buy_price // sell_price + trade.fee, trade.executed)


def keeps_limit(order: AuctionOrder, moved: ExecutedAmounts) -> bool:
    """Tell whether the contract would settle this: exact products, and never more than the order has."""
    within = moved.sold <= order.sell_amount if order.kind is OrderKind.SELL else moved.bought <= order.buy_amount
    return within and order.sell_amount * moved.bought >= order.buy_amount * moved.sold


def measure_surplus(order: AuctionOrder, moved: ExecutedAmounts, limit: tuple[int, int] | None = None) -> int:
    """Return what the owner gets beyond a limit, in the order's surplus token; negative below it.

    Parameters
    ----------
    order : AuctionOrder
        Whose limit counts where none is given.
    moved : ExecutedAmounts
        What was executed.
    limit : (int, int), optional
        Another one: so much sold for so much bought.
    """
    most_sold, least_bought = limit or (order.sell_amount, order.buy_amount)
    if order.kind is OrderKind.SELL:
        return moved.bought - div_up(moved.sold * least_bought, most_sold)
    return most_sold * moved.bought // least_bought - moved.sold


def charge_policies(trade: Fulfillment, prices: Mapping[Token, int]) -> Fulfillment:
    """Return the trade with the protocol's fees on top, each on what the one before left, the last policy first."""
    for policy in reversed(trade.order.fee_policies):
        added = _find_fee(trade, prices, policy)
        executed = trade.executed - added if trade.order.kind is OrderKind.SELL else trade.executed
        trade = Fulfillment(order=trade.order, executed=max(executed, 0), fee=trade.fee + added)
    return trade


def _find_fee(trade: Fulfillment, prices: Mapping[Token, int], policy: FeePolicy) -> int:
    """Return a policy's fee in the sell token."""
    order, moved = trade.order, execute(trade, prices)
    is_sale, factor = order.kind is OrderKind.SELL, policy.volume_factor
    volume = trade.executed if is_sale else moved.sold - trade.fee
    most = int(volume * (factor / (1 + factor) if is_sale else factor / (1 - factor)))
    if policy.surplus_factor is None:
        return most
    surplus = max(0, measure_surplus(order, moved, _find_reference(order, policy)))
    if is_sale:
        surplus = surplus * prices[order.buy] // prices[order.sell]
    return min(most, int(surplus * policy.surplus_factor))


def _find_reference(order: AuctionOrder, policy: FeePolicy) -> tuple[int, int]:
    """Return what surplus is counted from: the limit, or the quote where that is better."""
    if policy.quote is None:
        return order.sell_amount, order.buy_amount
    sold, bought, fee = policy.quote
    if order.kind is OrderKind.SELL:
        net = max(0, bought - fee * bought // sold)
        return order.sell_amount, max(order.buy_amount, net * order.sell_amount // sold)
    return min(order.sell_amount, (sold + fee) * order.buy_amount // bought), order.buy_amount


def score_trade(
    trade: Fulfillment, prices: Mapping[Token, int], reference: Mapping[Token, int], charged: Fulfillment | None = None
) -> int:
    """Return the score of a trade in wei: the owner's surplus, and the protocol's fees.

    Parameters
    ----------
    trade : Fulfillment
        Without protocol fees.
    prices : mapping of Token to int
        The solution's.
    reference : mapping of Token to int
        The auction's, by which surplus is valued; without that of the surplus token the score is 0.
    charged : Fulfillment, optional
        The trade with protocol fees, where there are any.
    """
    order, final = trade.order, charged or trade
    surplus = measure_surplus(order, execute(final, prices))
    fee = final.fee - trade.fee
    if order.kind is OrderKind.SELL:
        fee = fee * prices[order.sell] // prices[order.buy]
    return (surplus + fee) * reference.get(order.surplus_token, 0) // PRICE_UNIT


def value_gas(gas: int, gas_price: int, reference: int) -> int:
    """Return what gas costs in smallest units of a token, rounded up."""
    return div_up(gas * gas_price * PRICE_UNIT, reference)


def fits(trades: Sequence[Fulfillment], prices: Mapping[Token, int]) -> bool:
    """Tell whether no product of the contract or the driver exceeds 256 bits."""
    if not all(0 < price <= MOST for price in prices.values()):
        return False
    for trade in trades:
        order, moved = trade.order, execute(trade, prices)
        largest = max(moved.sold, moved.bought, order.sell_amount, order.buy_amount)
        if trade.executed * max(prices[order.sell], prices[order.buy]) > MOST or largest**2 > MOST:
            return False
    return True


def limit_price(order: AuctionOrder) -> Fraction:
    """Return the least that the order accepts: smallest units bought for each one sold."""
    return Fraction(order.buy_amount, order.sell_amount)
