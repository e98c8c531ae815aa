"""One direction of Stargate v2, with its fee library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import numpy as np

from routing_engine.amm.integer_search import greatest_input, least_input
from routing_engine.amm.stargate_fee import MAX_SHARED, FeeTerms, Stretch, apply_fee, cap_reward, stretches
from routing_engine.curves.curve import X0, Y0, A, B, Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import div_up
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import BigInt, make_codec
from routing_engine.markets.common.field_checks import check_fields
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.one_way import OneWayMarket, itemise_native_fee
from routing_engine.markets.common.pair import check_fee
from routing_engine.markets.common.record import Record, read_list, require, to_int
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token

SHARED_DECIMALS = 6


def _read_terms(record: Record, field: str) -> FeeTerms:
    rows = read_list(record, field, len(FeeTerms._fields))
    require(len(rows) == 1, field, "must be one row")
    return FeeTerms(*(to_int(value, field) for value in rows[0]))


TERMS = make_codec(lambda terms: [[str(value) for value in terms]], _read_terms)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StargateLane(OneWayMarket):
    """A Stargate pool's or token's path to one other chain: ``StargateBase.send``.

    The contract cuts a deposit to shared decimals and leaves the rest with the sender.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token_in, token_out : Token
        On different chains, with at least six decimals each.
    terms : FeeTerms
        ``feeConfigs`` of the destination; sizes in shared decimals. A larger size may pay a larger fee on the whole, so
        that a little more input can give less.
    deficit : int
        What the sending pool lacks against its deposits and its offset; 0 for a token that is burnt.
    treasury : int
        Fees collected by the sending pool, out of which rewards are paid.
    credit : int
        What the path may still send; `MAX_SHARED` where it is unlimited.
    native_fee : int
        The message's price, paid on top in the sending chain's coin.
    fill_time_s, gas : int
        As `BridgeLane` says.

    Raises
    ------
    InvalidMarket
        If chains, decimals, fees or amounts are impossible.
    """

    kind: ClassVar[str] = "stargate"

    id: str
    protocol: str = "stargate"
    token_in: Token
    token_out: Token
    terms: Annotated[FeeTerms, TERMS]
    deficit: BigInt = 0
    treasury: BigInt = 0
    credit: BigInt = MAX_SHARED
    native_fee: BigInt = 0
    fill_time_s: int
    gas: int = 210_000

    def __post_init__(self) -> None:
        check_fields(self)
        require(self.token_in.chain_id != self.token_out.chain_id, "token_out", "is on the chain of token_in")
        require(self.token_in.decimals >= SHARED_DECIMALS, "token_in", "must have at least 6 decimals")
        require(self.token_out.decimals >= SHARED_DECIMALS, "token_out", "must have at least 6 decimals")
        for fee_pips in self.terms[2:5]:
            check_fee(fee_pips, "terms")
        require(0 <= self.terms.zone1_most <= self.terms.zone2_most, "terms", "the second zone ends before the first")
        require(self.terms.reward_pips >= 0, "terms", "the reward must be at least 0 pips")
        for field in ("deficit", "treasury", "credit"):
            require(0 <= getattr(self, field) <= MAX_SHARED, field, "must be from 0 to 2**64 - 1")
        require(self.native_fee >= 0, "native_fee", "must be at least 0")
        require(self.fill_time_s >= 0, "fill_time_s", "must be at least 0 seconds")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Send exactly `amount_in`, less what is finer than shared decimals; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        self.require_direction(token_in, token_out)
        sent = amount_in // self._unit_in
        if sent > self.credit:
            self.refuse(Refusal.AMOUNT_TOO_HIGH, f"the path's credit is {self.credit * self._unit_in}")
        arrives = self._arrives(sent) if sent > 0 else 0
        if arrives <= 0:
            self.refuse_low(amount_in)
        if arrives > self.credit:
            self.refuse(Refusal.AMOUNT_TOO_HIGH, f"the path's credit is {self.credit * self._unit_in}")
        fee = Fee(amount=max(0, sent - arrives) * self._unit_in, token=token_in, name="protocol_fee")
        hop = self.make_hop(
            token_in,
            token_out,
            amount_in,
            arrives * self._unit_out,
            fees=(fee, *itemise_native_fee(token_in.chain_id, self.native_fee)),
            gas=self.gas,
            fill_time_s=self.fill_time_s,
            spot_price=self.spot_price(token_in, token_out),
        )
        return hop, self._advance(sent, arrives)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        self.require_direction(token_in, token_out)
        sent = self._least(div_up(amount_out, self._unit_out))
        return None if sent is None else sent * self._unit_in

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that delivers a shared unit to the path's credit; minimum above maximum when closed."""
        self.require_direction(token_in, token_out)
        least = self._least(1)
        if least is None:
            return CLOSED
        most = greatest_input(lambda sent: self._arrives(sent) <= self.credit, least, self.credit)
        return Limits(least * self._unit_in, (most + 1) * self._unit_in - 1)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Price of small amounts after the proportional fee, or with the reward."""
        self.require_direction(token_in, token_out)
        return self._stretches()[0].slope * self._unit_out / self._unit_in

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One straight piece for each stretch; the cut to shared decimals is left to the exact quote."""
        limits = self.limits(token_in, token_out)
        reached = max(1, limits.max_amount_in // self._unit_in)
        found = [stretch for stretch in self._stretches() if stretch.first <= reached]
        pieces = np.zeros((len(found), 5))
        pieces[:, X0] = [float(stretch.first * self._unit_in) for stretch in found]
        pieces[:, Y0] = [float(self._arrives(stretch.first) * self._unit_out) for stretch in found]
        pieces[:, A] = [stretch.slope * self._unit_out / self._unit_in for stretch in found]
        pieces[:, B] = 1.0
        return Curve(
            pieces=pieces,
            x_min=float(limits.min_amount_in),
            x_max=float(limits.max_amount_in),
            gas=float(self.gas),
            native_fee=float(self.native_fee),
            fill_time_s=float(self.fill_time_s),
            concave=False,
        )

    @property
    def _unit_in(self) -> int:
        return int(10 ** (self.token_in.decimals - SHARED_DECIMALS))

    @property
    def _unit_out(self) -> int:
        return int(10 ** (self.token_out.decimals - SHARED_DECIMALS))

    def _arrives(self, sent: int) -> int:
        return cap_reward(sent, apply_fee(self.terms, sent, self.deficit), self.treasury)

    def _advance(self, sent: int, arrives: int) -> Self:
        return advance(
            self,
            deficit=max(0, self.deficit - arrives),
            treasury=self.treasury + sent - arrives,
            credit=self.credit if self.credit == MAX_SHARED else self.credit - arrives,
        )

    def _stretches(self) -> list[Stretch]:
        return stretches(self.terms, self.deficit, self.treasury)

    def _least(self, arrives: int) -> int | None:
        """Return the least amount sent of which `arrives` arrive, within the credit."""
        found = self._stretches()
        ends = [stretch.first - 1 for stretch in found[1:]] + [MAX_SHARED]
        for stretch, end in zip(found, ends, strict=True):
            least = self._least_within(stretch, min(end, self.credit), arrives)
            if least is not None:
                return least
        return None

    def _least_within(self, stretch: Stretch, most: int, arrives: int) -> int | None:
        first = stretch.first - 1
        guess = int(arrives / stretch.slope) - first
        step = least_input(lambda step: self._arrives(first + step), arrives, guess, most - first)
        return None if step is None or self._arrives(first + step) > self.credit else first + step


KIND = MarketKind(market=StargateLane)
