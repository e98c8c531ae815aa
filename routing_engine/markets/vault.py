"""ERC-4626 vaults without fees of their own: deposit an asset for shares, redeem shares for the asset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from routing_engine.amm.vault import Rate, best_rate
from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import div_up, mul_div
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pair import PairMarket
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, require_two
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read_text, require
from routing_engine.markets.common.state import advance
from routing_engine.model import Hop, Token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Vault(PairMarket):
    """A vault whose conversions of one whole token are known.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    asset, share : Token
        What the vault holds, and its own token.
    asset_price : int
        Shares for one whole asset: ``convertToShares(10**decimals)``.
    share_price : int
        Assets for one whole share: ``convertToAssets(10**decimals)``.
    max_deposit, max_redeem : int
        The most assets it takes and the most shares it takes back: ``maxDeposit`` and ``maxRedeem``.
    gas_deposit, gas_redeem : int
        Gas units of either.

    Raises
    ------
    InvalidMarket
        If tokens, prices or limits are impossible.
    """

    kind: ClassVar[str] = "vault"

    id: str
    protocol: str
    asset: Token
    share: Token
    asset_price: BigInt
    share_price: BigInt
    max_deposit: BigInt
    max_redeem: BigInt
    gas_deposit: int = 90_000
    gas_redeem: int = 80_000

    def __post_init__(self) -> None:
        self.check_pair()
        require(self.asset_price > 0, "asset_price", "must be positive: the shares for one whole asset")
        require(self.share_price > 0, "share_price", "must be positive: the assets for one whole share")
        unit = 10 ** (self.asset.decimals + self.share.decimals)
        gains = self.asset_price * self.share_price > unit
        require(not gains, "share_price", "gives back more than was deposited; is it of the same block as asset_price?")
        for field, limit in (("max_deposit", self.max_deposit), ("max_redeem", self.max_redeem)):
            require(0 <= limit <= UNLIMITED, field, "must be from 0 to 2**256 - 1, in smallest units")

    @property
    def token0(self) -> Token:
        """The asset."""
        return self.asset

    @property
    def token1(self) -> Token:
        """The share."""
        return self.share

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Deposit or redeem exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        deposits = self.is_zero_for_one(token_in, token_out)
        most = self.max_deposit if deposits else self.max_redeem
        if amount_in > most:
            self.refuse(Refusal.AMOUNT_TOO_HIGH, f"at most {most}")
        amount_out = mul_div(amount_in, *self._rate(deposits)) if amount_in > 0 else 0
        if amount_out == 0:
            self.refuse_low(amount_in)
        price = self.spot_price(token_in, token_out)
        gas = self.gas_deposit if deposits else self.gas_redeem
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=gas, spot_price=price)
        if deposits:
            return hop, advance(self, max_deposit=most - amount_in)
        return hop, advance(self, max_redeem=most - amount_in)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        deposits = self.is_zero_for_one(token_in, token_out)
        given, taken = self._rate(deposits)
        least = div_up(amount_out * taken, given)
        return least if least <= (self.max_deposit if deposits else self.max_redeem) else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least that gives one unit to what the vault takes; minimum above maximum when closed."""
        deposits = self.is_zero_for_one(token_in, token_out)
        given, taken = self._rate(deposits)
        return Limits(div_up(taken, given), self.max_deposit if deposits else self.max_redeem)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Return the vault's rate; see `Market`."""
        given, taken = self._rate(self.is_zero_for_one(token_in, token_out))
        return given / taken

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return a straight line."""
        given, taken = self._rate(self.is_zero_for_one(token_in, token_out))
        bounds = self.limits(token_in, token_out)
        return Curve(
            pieces=np.array([[0.0, 0.0, given / taken, 1.0, 0.0]]),
            x_min=float(bounds.min_amount_in),
            x_max=float(bounds.max_amount_in),
            gas=float(self.gas_deposit if token_in == self.asset else self.gas_redeem),
        )

    def _rate(self, deposits: bool) -> Rate:
        asset, share = 10**self.asset.decimals, 10**self.share.decimals
        if deposits:
            return best_rate(self.asset_price, asset, self.share_price, share)
        return best_rate(self.share_price, share, self.asset_price, asset)


def build(pool: Pool, market_id: str, tokens: list[Token]) -> Vault:
    """Build a vault from the prices and limits in ``raw_state``; answers for a few amounts only do not suffice."""
    if "raw_state" not in pool:
        raise PoolRefused("prices_unknown")
    state = read_object(pool, "raw_state")
    address = read_text(state, "pool_address").lower()
    pair = require_two(tokens)
    if address not in (token.address for token in pair):
        raise PoolRefused("share_token_unknown")
    asset, share = pair if pair[1].address == address else pair[::-1]
    market = Vault(
        id=market_id,
        protocol="erc4626",
        asset=asset,
        share=share,
        asset_price=read_number(state, "asset_price"),
        share_price=read_number(state, "share_price"),
        max_deposit=read_number(state, "max_deposit"),
        max_redeem=read_number(state, "max_redeem"),
    )
    if not market.edges():
        raise PoolRefused("closed")
    return market


KIND = MarketKind(market=Vault, pool_readers={"erc4626": build})
