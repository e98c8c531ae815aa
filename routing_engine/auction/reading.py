"""An auction from the JSON of a solver engine's request.

The fields are those of `solvers-dto` in cowprotocol/services; docs/cow-solver.md names the versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from routing_engine.auction.liquidity import read_liquidity
from routing_engine.auction.model import Auction, AuctionOrder, FeePolicy, OrderKind, Skipped
from routing_engine.auction.numbers import (
    parse_address,
    read_decimal,
    read_flag,
    read_id,
    read_member,
    read_owner,
    read_positive,
    read_time,
    read_uid,
    read_units,
    read_word,
)
from routing_engine.errors import InvalidAuction, InvalidMarket, InvalidRequest
from routing_engine.market import Market
from routing_engine.markets.common.pool_fields import PoolRefused
from routing_engine.model import NATIVE_ADDRESS, Token

USUAL_DECIMALS = 18
"""Taken where an auction does not tell a token's; no amount depends on them."""

MOST_DECIMALS = 77
MOST_GAS_PRICE = 10**18
"""Wei: a whole coin for one unit of gas."""


@dataclass(slots=True)
class _Reader:
    """What has been read so far of one auction."""

    chain_id: int
    known: dict[str, Token] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, where: str, error: Exception) -> None:
        self.skipped.append(Skipped(where=where, reason=str(error)))

    def find_token(self, address: str) -> Token:
        """Return the token of an address; one that the auction does not list has the usual decimals."""
        if address not in self.known:
            self.known[address] = self._make_token(address, None, None)
        return self.known[address]

    def read_tokens(self, tokens: Mapping[str, Any]) -> dict[Token, int]:
        """Learn the tokens, and return their reference prices."""
        prices = {}
        for key, row in tokens.items():
            try:
                address = parse_address(key, "address")
                record = row if isinstance(row, Mapping) else {}
                token = self._make_token(address, record.get("decimals"), record.get("symbol"))
                self.known[address] = token
                if record.get("referencePrice") is not None and (price := read_units(record, "referencePrice")):
                    prices[token] = price
            except (InvalidAuction, InvalidRequest) as error:
                self.skip(f"tokens.{str(key)[:44]}", error)
        return prices

    def _make_token(self, address: str, decimals: object, symbol: object) -> Token:
        usual = not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= MOST_DECIMALS
        return Token(
            chain_id=self.chain_id,
            address=address,
            symbol=symbol if isinstance(symbol, str) else "",
            decimals=USUAL_DECIMALS if usual else decimals,  # type: ignore[arg-type]
        )

    def read_markets(self, rows: list[Any]) -> Iterator[Market]:
        """Yield what can be built, and note what can't."""
        seen = set()
        for number, row in enumerate(rows):
            try:
                market = read_liquidity(row, self.find_token)
                if market.id in seen:
                    raise InvalidAuction("id", "stands there twice; only the first counts")
                seen.add(market.id)
                yield market
            except PoolRefused as error:
                self.skip(f"liquidity.{number}", error)
            except (InvalidAuction, InvalidMarket, InvalidRequest) as error:
                self.skip(f"liquidity.{number}", error)

    def read_orders(self, rows: list[Any]) -> Iterator[AuctionOrder]:
        """Yield the orders that can be filled, and note the others."""
        seen = set()
        for number, row in enumerate(rows):
            try:
                order = self._read_order(row)
                if order.uid in seen:
                    raise InvalidAuction("uid", "stands there twice; only the first counts")
                seen.add(order.uid)
                yield order
            except (InvalidAuction, InvalidRequest) as error:
                self.skip(f"orders.{number}", error)

    def _read_order(self, row: Any) -> AuctionOrder:
        sell, buy = (self.find_token(read_owner(row, name)) for name in ("sellToken", "buyToken"))
        if sell == buy:
            raise InvalidAuction("buyToken", "is the token that is sold")
        if NATIVE_ADDRESS in (sell.address, buy.address):
            raise InvalidAuction("buyToken", "is the chain's coin; drivers put its wrapped token here")
        return AuctionOrder(
            uid=read_uid(row, "uid"),
            sell=sell,
            buy=buy,
            sell_amount=read_positive(row, "sellAmount"),
            buy_amount=read_positive(row, "buyAmount"),
            kind=OrderKind(read_word(row, "kind", tuple(OrderKind))),
            partially_fillable=read_flag(row, "partiallyFillable"),
            pays_gas=read_word(row, "class", ("market", "limit")) == "limit",
            fee_policies=tuple(_read_policy(each) for each in _read_list(row.get("feePolicies") or [], "feePolicies")),
        )


def read_auction(record: object, chain_id: int = 1) -> Auction:
    """Read an auction.

    Parameters
    ----------
    record : object
        The request's JSON, parsed.
    chain_id : int
        Of all its tokens: the request does not say.

    Raises
    ------
    InvalidAuction
        If it is no auction, naming the field. What is wrong with a single token, order or piece of liquidity leaves
        this one out: `Auction.skipped` says so.
    """
    if not isinstance(record, Mapping):
        raise InvalidAuction("auction", "must be a JSON object")
    tokens = read_member(record, "tokens")
    if not isinstance(tokens, Mapping):
        raise InvalidAuction("tokens", "must be an object of tokens by address")
    rows = {name: _read_list(read_member(record, name), name) for name in ("orders", "liquidity")}
    gas_price = read_units(record, "effectiveGasPrice")
    if gas_price > MOST_GAS_PRICE:
        raise InvalidAuction("effectiveGasPrice", f"must be at most {MOST_GAS_PRICE} wei")
    deadline = read_time(record, "deadline")
    auction_id = read_id(record, "id") if record.get("id") is not None else None
    reader = _Reader(chain_id)
    prices = reader.read_tokens(tokens)
    return Auction(
        id=auction_id,
        orders=tuple(reader.read_orders(rows["orders"])),
        markets=tuple(reader.read_markets(rows["liquidity"])),
        prices=prices,
        gas_price=gas_price,
        deadline=deadline,
        skipped=tuple(reader.skipped),
    )


def _read_list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidAuction(name, "must be a list")
    return value


def _read_policy(record: Any) -> FeePolicy:
    """Read a fee policy: an object of one member, whose name is its kind."""
    if not isinstance(record, Mapping) or len(record) != 1:
        raise InvalidAuction("feePolicies", "must be objects of one member each")
    [(kind, terms)] = record.items()
    if kind == "volume":
        return FeePolicy(surplus_factor=None, volume_factor=_read_factor(terms, "factor"))
    if kind not in ("surplus", "priceImprovement"):
        raise InvalidAuction("feePolicies", "must be surplus, priceImprovement or volume")
    quote = None
    if kind == "priceImprovement":
        given = read_member(terms, "quote")
        quote = read_positive(given, "sellAmount"), read_positive(given, "buyAmount"), read_units(given, "fee")
    return FeePolicy(
        surplus_factor=_read_factor(terms, "factor"), volume_factor=_read_factor(terms, "maxVolumeFactor"), quote=quote
    )


def _read_factor(record: Any, name: str) -> Fraction:
    factor = read_decimal(record, name)
    if not 0 <= factor < 1:
        raise InvalidAuction(name, "must be from 0 to below 1")
    return Fraction(factor)
