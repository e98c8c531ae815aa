"""How many pools of each recorded market load, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from routing_engine import formats
from routing_engine.markets import NativeWrap
from routing_engine.token_fields import Transfers


class Why(StrEnum):
    """What kind of reason keeps a pool out."""

    INCOMPLETE = "incomplete"
    """The file lacks a part of the state, or contradicts itself."""
    NOTHING = "nothing to trade"
    """The state is complete, but there is nothing to be had."""
    UNSUPPORTED = "other kind"
    """The engine does not have this kind of contract."""
    INEXACT = "refused by default"
    """A token takes a fee on transfers, or rebases."""


REASONS: Mapping[str, tuple[Why, str]] = {
    "ticks_unknown": (Why.INCOMPLETE, "the file has no ticks"),
    "inconsistent_state": (
        Why.INCOMPLETE,
        "ticks and active liquidity contradict each other, or the known ticks are not around the price",
    ),
    "stable_flag_unknown": (Why.INCOMPLETE, "neither the curve nor the fee is in the file"),
    "duplicate_id": (Why.INCOMPLETE, "the pool stands in the file twice"),
    "unknown_decimals": (Why.INCOMPLETE, "a token's decimals are not in the file"),
    "type_unknown": (Why.INCOMPLETE, "the file does not say what kind of contract it is"),
    "weights_may_move": (Why.INCOMPLETE, "weights follow a schedule that is not in the file, nor whether swaps are on"),
    "weights_do_not_add_up": (Why.INCOMPLETE, "weights of a pool whose weights move, as their coarse roundings show"),
    "price_moves_with_time": (Why.INCOMPLETE, "the price depends on the block's time, which is not in the file"),
    "rate_not_exact": (Why.INCOMPLETE, "a rate is kept with six digits, which several rates fit"),
    "base_virtual_price_unknown": (Why.INCOMPLETE, "the base pool's virtual price is not in the file"),
    "parameters_unknown": (Why.INCOMPLETE, "the pool's parameters are not in the file"),
    "prices_unknown": (Why.INCOMPLETE, "the vault's answers are not in the file"),
    "pool_id_of_another_key_or_with_hooks": (Why.INCOMPLETE, "tokens, fee and hooks in the file do not hash to its id"),
    "empty": (Why.NOTHING, "nothing is in it"),
    "nothing_withdrawable": (Why.NOTHING, "the protocol lets nothing be taken out"),
    "paused": (Why.NOTHING, "swaps are paused"),
    "unsupported_type": (Why.UNSUPPORTED, "another kind of contract"),
    "unsupported_protocol": (Why.UNSUPPORTED, "another kind of contract, or hooks that act on swaps"),
    "rebasing_token": (Why.INEXACT, "a token rebases"),
    "fee_on_transfer_token": (Why.INEXACT, "a token takes a fee on transfers"),
}
"""Kind and meaning of each reason, by its name up to a colon."""

NOT_MARKETS = ("block_deltas", "stateless_components", "coingecko_prices", "sanity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What became of the pools of one file.

    Parameters
    ----------
    name : str
        Of the file, without endings.
    loaded : int
        Pools that load by default.
    reasons : mapping of str to int
        Pools that do not, by reason.
    """

    name: str
    loaded: int
    reasons: Mapping[str, int]

    @property
    def pools(self) -> int:
        """Pools in the file."""
        return self.loaded + sum(self.reasons.values())

    def count(self, why: Why) -> int:
        """Pools that a kind of reason keeps out; a reason that is not listed counts as unsupported."""
        return sum(n for reason, n in self.reasons.items() if kind_of(reason) is why)

    @property
    def complete(self) -> int:
        """Pools whose whole state is in the file and that can be traded."""
        return self.pools - self.count(Why.INCOMPLETE) - self.count(Why.NOTHING)

    @property
    def share(self) -> float:
        """Loaded ones, or loadable on request, of those with complete state; NaN where there are none."""
        return (self.loaded + self.count(Why.INEXACT)) / self.complete if self.complete else float("nan")


def kind_of(reason: str) -> Why:
    """Return the kind of a reason, which may have details after a colon."""
    return REASONS.get(reason.split(":")[0], (Why.UNSUPPORTED, ""))[0]


def market_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder of recorded data that hold whole markets, by name."""
    return (path for path in sorted(folder.iterdir()) if not any(part in path.name for part in NOT_MARKETS))


def share_of(path: Path) -> Share:
    """Load one file and count; that every inexact token's pool would load on request is checked on the way."""
    by_default, on_request = formats.load(path), formats.load(path, tuple(Transfers))
    pools = _pools(by_default)
    left_out = Counter(by_default.refused) - Counter(on_request.refused)
    if _pools(on_request) != pools + left_out.total():
        raise AssertionError(f"{path.name}: pools left out for their tokens do not load when these are accepted")
    return Share(name=path.name.split(".")[0], loaded=pools, reasons=by_default.refused)


def _pools(contents: formats.Contents) -> int:
    return sum(not isinstance(market, NativeWrap) for market in contents.markets)
