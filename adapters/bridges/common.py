"""What the adapters of bridges share: sources, directions, and turning what was quoted into lanes and firm hops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations
from typing import TypeVar

from adapters.base import BadPayload, Declined
from adapters.http.json_fields import Field
from routing_engine.errors import InvalidMarket, QuoteRefused
from routing_engine.market import Market
from routing_engine.model import ZERO_ADDRESS, Hop, Token
from routing_engine.reference import token_registry

MAX_RATE_E18 = 10**17
"""No bridge takes a tenth; an answer that says so is wrong."""

AT_ONCE = 4
"""Questions to one service at the same time."""

TYPICAL = {"WETH": Decimal("0.5"), "ETH": Decimal("0.5"), "WBTC": Decimal("0.01")}
TYPICAL_ELSE = Decimal(1000)
"""Whole tokens for which indicative quotes are asked: about a thousand dollars of what most bridges carry."""


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Direction:
    """A token on one chain, and what a bridge gives for it on another."""

    token_in: Token
    token_out: Token

    @property
    def path(self) -> str:
        """For messages: ``1-10 USDC``."""
        names = dict.fromkeys((self.token_in.symbol, self.token_out.symbol))
        return f"{self.token_in.chain_id}-{self.token_out.chain_id} {'-'.join(names)}"

    @property
    def typical_amount(self) -> int:
        """Smallest units of `token_in` to ask an indicative quote for."""
        return int(TYPICAL.get(self.token_in.symbol, TYPICAL_ELSE) * 10**self.token_in.decimals)

    @classmethod
    def from_hop(cls, hop: Hop) -> Direction:
        """Return the direction of a hop."""
        return cls(hop.token_in, hop.token_out)


def pair_assets(tokens: Iterable[Token], symbols: Iterable[str], chain_ids: Iterable[int]) -> Iterator[Direction]:
    """Yield each direction between those of `tokens` that the registry lists as one of `symbols`."""
    wanted, chains = frozenset(symbols), frozenset(chain_ids)
    held: dict[str, list[Token]] = {}
    for token in tokens:
        info = token_registry.info_of(token.chain_id, token.address)
        if info is not None and info.symbol in wanted and token.chain_id in chains:
            held.setdefault(info.symbol, []).append(token)
    for group in held.values():
        for token_in, token_out in permutations(group, 2):
            if token_in.chain_id != token_out.chain_id:
                yield Direction(token_in, token_out)


def ask_each(
    directions: Iterable[Direction], ask: Callable[[Direction], Answer]
) -> tuple[tuple[Direction, Answer], ...]:
    """Put a question for each direction, a few at a time; directions that the service declines are left out.

    Raises
    ------
    AdapterError
        The first failure that is not `Declined`; nothing further is asked then. `Declined` if nothing but that came.
    """
    found: list[tuple[Direction, Answer]] = []
    refusal: Declined | None = None
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = [(direction, threads.submit(ask, direction)) for direction in directions]
        try:
            for direction, answer in answers:
                try:
                    found.append((direction, answer.result()))
                except Declined as error:  # paused, or its relayers lack the amount: there is no lane for now
                    refusal = error
        finally:
            threads.shutdown(cancel_futures=True)
    if refusal is not None and not found:
        raise refusal
    return tuple(found)


def check_token(described: Field, token: Token) -> None:
    """Make sure that a service means the token that was asked for, and counts in the same units.

    Raises
    ------
    BadPayload
        Naming what differs.
    """
    for name, expected in (("chainId", token.chain_id), ("decimals", token.decimals)):
        told = described.get(name)
        if told.read_integer() != expected:
            raise told.make_error(f"must be {expected}")
    address = described.get("address")
    if address.read_address() not in {token.address, ZERO_ADDRESS if token.is_native else token.address}:
        raise address.make_error(f"must be {token.address}")


@contextmanager
def refuse_invalid(path: str) -> Iterator[None]:
    """Turn a market that contradicts itself into a `BadPayload`: its numbers came from outside."""
    try:
        yield
    except InvalidMarket as error:
        raise BadPayload(f"{path}: {error}") from error


def confirm_hop(lane: Market, hop: Hop) -> Hop:
    """Return what `lane`, asked for at the amount of `hop`, gives for it.

    Raises
    ------
    Declined
        If the amount is out of its limits.
    """
    try:
        return lane.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)[0]
    except QuoteRefused as refusal:
        raise Declined(f"{lane.protocol}: {refusal}", status=200) from refusal
