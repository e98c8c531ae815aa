"""The suite itself: it notices each way in which a market can be wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from adapters.testing import NotConforming, check_market
from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.market import Limits
from routing_engine.markets import ConstantProductPool
from tests.support.strategies import TOKEN0, TOKEN1

GOOD = {
    "id": "1:0xpool",
    "protocol": "test",
    "token0": TOKEN0,
    "token1": TOKEN1,
    "reserve0": 10**18,
    "reserve1": 3 * 10**12,
    "fee_pips": 3000,
}


class GivesTooMuch(ConstantProductPool):
    """Forgets to move its price, so that two trades beat one."""

    def swap_exact_in(self, token_in, token_out, amount_in):
        hop, _ = ConstantProductPool.swap_exact_in(self, token_in, token_out, amount_in)
        return hop, self


class TakesFloats(ConstantProductPool):
    def swap_exact_in(self, token_in, token_out, amount_in):
        return ConstantProductPool.swap_exact_in(self, token_in, token_out, int(amount_in))


class AsksTooMuch(ConstantProductPool):
    def swap_exact_out(self, token_in, token_out, amount_out):
        hop, _ = ConstantProductPool.swap_exact_out(self, token_in, token_out, amount_out)
        return self.swap_exact_in(token_in, token_out, hop.amount_in + 1 + hop.amount_in // 1000)


class LosesItsFee(ConstantProductPool):
    def curve(self, token_in, token_out):
        return replace(self, fee_pips=2999).as_is().curve(token_in, token_out)

    def as_is(self):
        return ConstantProductPool(**{name: getattr(self, name) for name in GOOD})


class RefusesItsMinimum(ConstantProductPool):
    def limits(self, token_in, token_out):
        bounds = ConstantProductPool.limits(self, token_in, token_out)
        return Limits(bounds.min_amount_in - 1, bounds.max_amount_in)


class KnowsNoMaximum(ConstantProductPool):
    def limits(self, token_in, token_out):
        bounds = ConstantProductPool.limits(self, token_in, token_out)
        return Limits(bounds.min_amount_in, bounds.max_amount_in // 2)


class ForgetsItsFeeInRecords(ConstantProductPool):
    @classmethod
    def from_record(cls, record, tokens):
        return super().from_record({**record, "fee_pips": 1}, tokens)


class SpotWithoutFee(ConstantProductPool):
    def spot_price(self, token_in, token_out):
        return ConstantProductPool.spot_price(self, token_in, token_out) / (1 - self.fee_pips / 1e6)


class HasAHole(ConstantProductPool):
    """Pays badly for odd amounts, unless they are huge."""

    def swap_exact_in(self, token_in, token_out, amount_in):
        hop, after = ConstantProductPool.swap_exact_in(self, token_in, token_out, amount_in)
        if amount_in % 2 and amount_in < 10**30:
            hop = replace(hop, amount_out=hop.amount_out // 2 + 1)
        return hop, after


class QuotesMore(ConstantProductPool):
    def quote_exact_in(self, token_in, token_out, amount_in):
        hop = ConstantProductPool.quote_exact_in(self, token_in, token_out, amount_in)
        return replace(hop, amount_out=hop.amount_out + 1)

    def swap_exact_in(self, token_in, token_out, amount_in):
        return ConstantProductPool(**GOOD).swap_exact_in(token_in, token_out, amount_in)


class EndlessCurve(ConstantProductPool):
    def curve(self, token_in, token_out):
        return replace(ConstantProductPool.curve(self, token_in, token_out), x_max=float("inf"))


class RefusesEverything(ConstantProductPool):
    def swap_exact_in(self, token_in, token_out, amount_in):
        raise QuoteRefused(Refusal.STALE, self.id)


@dataclass(slots=True, kw_only=True)
class Counts:
    """A market that remembers being asked."""

    pool: ConstantProductPool
    asked: int = 0

    def __getattr__(self, name):
        return getattr(self.pool, name)

    def __eq__(self, other):
        return self.pool == other

    def to_record(self):
        return {**self.pool.to_record(), "asked": self.asked}

    @classmethod
    def from_record(cls, record, tokens):
        return ConstantProductPool.from_record(record, tokens)

    def curve(self, token_in, token_out) -> Curve:
        self.asked += 1
        return self.pool.curve(token_in, token_out)


def test_a_good_market_passes():
    check_market(ConstantProductPool(**GOOD))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (GivesTooMuch, "at once"),
        (TakesFloats, "an amount that is no int"),
        (AsksTooMuch, "would suffice"),
        (LosesItsFee, "the curve gives"),
        (RefusesItsMinimum, "which it should serve"),
        (KnowsNoMaximum, "outside the limits"),
        (ForgetsItsFeeInRecords, "restores another market"),
        (SpotWithoutFee, "spot price"),
        (HasAHole, "gave"),
        (QuotesMore, "quoted otherwise"),
        (EndlessCurve, "range"),
        (RefusesEverything, "which it should serve"),
    ],
)
def test_a_bad_market_is_named_with_its_fault(kind, message):
    with pytest.raises(NotConforming, match=rf"1:0xpool.*{message}"):
        check_market(kind(**GOOD))


def test_a_market_that_quotes_change_is_noticed():
    with pytest.raises(NotConforming, match="quoting changed the market"):
        check_market(Counts(pool=ConstantProductPool(**GOOD)))


class BuysBackForMore(ConstantProductPool):
    """Pays two for one on the way back."""

    def swap_exact_in(self, token_in, token_out, amount_in):
        hop, after = ConstantProductPool.swap_exact_in(self, token_in, token_out, amount_in)
        doubled = hop.amount_out * (2 if token_in == self.token1 else 1)
        return replace(hop, amount_out=doubled), after


def test_a_round_trip_that_gains_is_noticed():
    with pytest.raises(NotConforming, match="round trip"):
        check_market(BuysBackForMore(**GOOD))
