"""ERC-4626 vaults without fees of their own: deposit an asset for shares, redeem shares for the asset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from routing_engine.amm.vault import Rate, best_rate
from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.fixed_point import div_up, mul_div
from routing_engine.markets.common.pair import check_pair, is_zero_for_one, refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_text, read_token, require
from routing_engine.markets.common.state import moved
from routing_engine.model import UNLIMITED, Hop, Limits, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
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
    asset_price: int
    share_price: int
    max_deposit: int
    max_redeem: int
    gas_deposit: int = 90_000
    gas_redeem: int = 80_000

    def __post_init__(self) -> None:
        check_pair(self)
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

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.asset, self.share)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Deposit and redemption, where the vault takes enough to give one unit."""
        found = []
        for edge in ((self.asset, self.share), (self.share, self.asset)):
            bounds = self.limits(*edge)
            if bounds.min_amount_in <= bounds.max_amount_in:
                found.append(edge)
        return tuple(found)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Deposit or redeem exactly `amount_in`; see `Market`."""
        deposits = is_zero_for_one(self, token_in, token_out)
        most = self.max_deposit if deposits else self.max_redeem
        if amount_in > most:
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, f"at most {most}")
        amount_out = mul_div(amount_in, *self._rate(deposits)) if amount_in > 0 else 0
        if amount_out == 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            gas=self.gas_deposit if deposits else self.gas_redeem,
            spot_price=self.spot_price(token_in, token_out),
        )
        if deposits:
            return hop, moved(self, max_deposit=most - amount_in)
        return hop, moved(self, max_redeem=most - amount_in)

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Deposit or redeem the least that gives `amount_out`; see `Market`."""
        deposits = is_zero_for_one(self, token_in, token_out)
        given, taken = self._rate(deposits)
        least = div_up(amount_out * taken, given)
        if amount_out <= 0 or least > (self.max_deposit if deposits else self.max_redeem):
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, least)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least that gives one unit to what the vault takes; minimum above maximum when closed."""
        deposits = is_zero_for_one(self, token_in, token_out)
        given, taken = self._rate(deposits)
        return Limits(div_up(taken, given), self.max_deposit if deposits else self.max_redeem)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Return the vault's rate; see `Market`."""
        given, taken = self._rate(is_zero_for_one(self, token_in, token_out))
        return given / taken

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return a straight line."""
        given, taken = self._rate(is_zero_for_one(self, token_in, token_out))
        bounds = self.limits(token_in, token_out)
        return Curve(
            pieces=np.array([[0.0, 0.0, given / taken, 1.0, 0.0]]),
            x_min=float(bounds.min_amount_in),
            x_max=float(bounds.max_amount_in),
            gas=float(self.gas_deposit if token_in == self.asset else self.gas_redeem),
        )

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; see `Market`."""
        return {
            "kind": self.kind,
            "id": self.id,
            "protocol": self.protocol,
            "asset": self.asset.key,
            "share": self.share.key,
            "asset_price": str(self.asset_price),
            "share_price": str(self.share_price),
            "max_deposit": str(self.max_deposit),
            "max_redeem": str(self.max_redeem),
            "gas_deposit": self.gas_deposit,
            "gas_redeem": self.gas_redeem,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            asset=read_token(record, "asset", tokens),
            share=read_token(record, "share", tokens),
            asset_price=read_int(record, "asset_price"),
            share_price=read_int(record, "share_price"),
            max_deposit=read_int(record, "max_deposit"),
            max_redeem=read_int(record, "max_redeem"),
            gas_deposit=read_int(record, "gas_deposit"),
            gas_redeem=read_int(record, "gas_redeem"),
        )

    def _rate(self, deposits: bool) -> Rate:
        asset, share = 10**self.asset.decimals, 10**self.share.decimals
        if deposits:
            return best_rate(self.asset_price, asset, self.share_price, share)
        return best_rate(self.share_price, share, self.asset_price, asset)
