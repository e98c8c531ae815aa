"""What a payment costs in all, in the token that the merchant receives, and which coin it needs for gas.

All of it informs: the engine's reference prices say what the coin is valued at, and nothing is promised by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from api.services.routing.serializers import GAS
from routing_engine import Token
from routing_engine.model import Fee
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from routing_engine import Route, Router

COIN_TRANSFER_GAS = 21_000
TOKEN_TRANSFER_GAS = 65_000
APPROVAL_GAS = 46_000
POOL_FEE, BRIDGE_FEE = "lp_fee", "bridge_fee"
"""What providers of liquidity take: an exchange's, and a bridge's, which exchanges nothing."""
SPARE = Fraction(3, 2)
"""Wallets ask for more than a transaction uses: its limit is higher, and the price of gas may rise until it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a payment costs.

    Parameters
    ----------
    total : int or None
        What the customer spends in all, smallest units of the settlement token; None where it can't be valued.
    coin_needed : int
        What a wallet must have of the chain's coin for gas and for fees in it, what it pays with not counted.
    costs : tuple of mapping
        ``name``, ``symbol``, ``decimals``, ``amount``, ``value`` and ``included`` of each, amounts as digit strings;
        ``value`` in the settlement token, None where it can't be valued.
    """

    total: int | None
    coin_needed: int
    costs: tuple[Mapping[str, Any], ...]


class Values:
    """Values amounts in the token that settles an order.

    Parameters
    ----------
    router : Router
        By whose reference prices.
    settled : Token
        In what.
    """

    def __init__(self, router: Router, settled: Token) -> None:
        self._index, self._prices = router.graph.index, router.graph.prices
        self._settled = settled
        self._unit = self._find_price(settled)

    def value(self, token: Token, amount: int) -> int | None:
        """Return an amount in the settlement token, rounded up; None where no market says."""
        if token.symbol == self._settled.symbol:
            return _divide_up(amount * 10**self._settled.decimals, 10**token.decimals)
        price = self._find_price(token)
        if not price or not self._unit:
            return None
        exact = amount * price / self._unit
        return _divide_up(exact.numerator, exact.denominator)

    def _find_price(self, token: Token) -> Fraction:
        """Return the reference price of a token's smallest unit, of a coin on any chain; 0 where there is none."""
        for same in (token, *_list_stand_ins(token)):
            place = self._index.get(same)
            price = 0.0 if place is None else float(self._prices[place])
            if price > 0:
                return Fraction(price)
        return Fraction(0)


def _list_stand_ins(token: Token) -> Iterator[Token]:
    """Yield what is as valuable as a chain's coin: the contract that wraps it, and the same coin elsewhere."""
    if token.is_native:
        for chain in CHAINS.values():
            if chain.native_token.symbol == token.symbol:
                yield from (chain.wrapped_native_token, chain.native_token)


def count_costs(router: Router, token: Token, settled: Token, due: int, route: Route | None) -> Costs:
    """Add up what paying `due` takes, by a route or, without one, by a transfer of the settlement token itself."""
    values, coin = Values(router, settled), CHAINS[token.chain_id].native_token
    fees = _sum_fees(_list_fees(router, token, route))
    worth = {fee: values.value(fee.token, fee.amount) for fee in fees}
    on_top = [worth[fee] for fee in fees if not fee.included]
    within = [worth[fee] for fee in fees if fee.included]
    paid = values.value(token, route.amount_in) if route else due
    knows_gas = token.chain_id in router.snapshot.gas_prices
    if paid is None or not knows_gas or None in on_top:
        total = None
    else:
        total = max(paid, due + sum(each or 0 for each in within)) + sum(each or 0 for each in on_top)
    needed = sum(fee.amount for fee in fees if not fee.included and fee.token == coin)
    return Costs(
        total=total,
        coin_needed=_divide_up(needed * SPARE.numerator, SPARE.denominator),
        costs=tuple(_describe(fee, worth[fee]) for fee in fees),
    )


def _list_fees(router: Router, token: Token, route: Route | None) -> Iterator[Fee]:
    """Yield the fees of all hops, the gas that senders pay, and that of a permission to spend."""
    gas_prices = router.snapshot.gas_prices
    gas = {token.chain_id: _estimate_first_gas(token, route)}
    for hop in route.hops if route else ():
        crosses = hop.token_in.chain_id != hop.token_out.chain_id
        yield from (replace(fee, name=BRIDGE_FEE) if crosses and fee.name == POOL_FEE else fee for fee in hop.fees)
        gas[hop.token_in.chain_id] = gas.get(hop.token_in.chain_id, 0) + hop.gas
    for chain_id, used in gas.items():
        if chain_id in CHAINS and chain_id in gas_prices:
            coin = CHAINS[chain_id].native_token
            yield Fee(amount=used * gas_prices[chain_id], token=coin, name=GAS, included=False)


def _estimate_first_gas(token: Token, route: Route | None) -> int:
    """Return the gas that no hop counts: of a transfer, or of the permission before a route."""
    if route is None:
        return COIN_TRANSFER_GAS if token.is_native else TOKEN_TRANSFER_GAS
    return 0 if token.is_native else APPROVAL_GAS


def _sum_fees(fees: Iterator[Fee]) -> list[Fee]:
    """Add up fees of one kind in one token, those on top of the amount last."""
    sums: dict[tuple[str, Token, bool], int] = {}
    for fee in fees:
        key = fee.name, fee.token, fee.included
        sums[key] = sums.get(key, 0) + fee.amount
    ordered = sorted(sums.items(), key=lambda row: not row[0][2])
    return [
        Fee(amount=amount, token=token, name=name, included=included)
        for (name, token, included), amount in ordered
        if amount
    ]


def _describe(fee: Fee, value: int | None) -> dict[str, Any]:
    return {
        "name": fee.name,
        "symbol": fee.token.symbol,
        "decimals": fee.token.decimals,
        "amount": str(fee.amount),
        "value": None if value is None else str(value),
        "included": fee.included,
    }


def _divide_up(amount: int, by: int) -> int:
    return -(-amount // by)
