"""Hop, by its API: quotes from token to token, which include the exchanges at both ends.

Endpoint and fields, with their misspelling, are those of https://docs.hop.exchange/developer-docs/api.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

from adapters.base import Client, FirmQuote
from adapters.bridges.base import Bridge
from adapters.bridges.common import Direction, ask_each, confirm_hop, refuse_invalid
from adapters.bridges.service import ServiceAdapter
from adapters.http.json_fields import Field
from routing_engine.fixed_point import WAD, div_up, mul_div, rescale
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane, LaneFee
from routing_engine.markets.bridges.fill_times import hop_fill_time
from routing_engine.markets.bridges.terms import lane_id
from routing_engine.model import Hop, Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS, bridge_facts

SLIPPAGE_PERCENT = "0.5"
SPREAD = 10
"""The two amounts asked for are a tenth of the typical amount, and ten times it."""
TERMS = ("bonderFee", "amountOutMin", "destinationAmountOutMin", "deadline", "destinationDeadline")
DEPOSIT_GAS = 140_000


@dataclass(frozen=True, slots=True)
class Quote:
    """What arrives of one amount."""

    amount_in: int
    received: int


Answers: TypeAlias = tuple[tuple[Direction, tuple[Any, Any]], ...]


class HopAdapter(ServiceAdapter[Answers]):
    """One lane for each direction of each token that Hop carries."""

    name = "hop"
    protocols = ("hop",)
    url = "https://api.hop.exchange/v1"
    interval_s = 120.0
    max_age_s = 600.0

    def __init__(self, client: Client, tokens: tuple[Token, ...], url: str | None = None) -> None:
        super().__init__(client, tokens, url)
        self._symbols: dict[Direction, str] = {}
        for symbol, ends in _list_carried().items():
            for token_in, token_out in permutations((end for end in ends if end.key in self.tokens), 2):
                self._symbols[Direction(token_in, token_out)] = symbol

    def fetch(self) -> Answers:
        """Ask for two amounts in each direction; one that is declined is left out."""
        return ask_each(self._symbols, self._ask_both)

    def parse(self, payload: Answers) -> Contents:
        """Return a lane for each pair of answers."""
        return Contents(markets=tuple(read_lane(direction, *answers) for direction, answers in payload))

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for this very amount; the terms are arguments of ``swapAndSend``. Addresses change nothing."""
        direction = Direction.from_hop(hop)
        answer = self._ask(direction, hop.amount_in)
        document = Field(answer, f"hop {direction.path}")
        document.get("amountIn").read_integer(hop.amount_in, hop.amount_in)
        terms = {name: document.get(name).read_integer() for name in TERMS}
        return FirmQuote(hop=confirm_hop(read_lane(direction, answer, answer), hop), terms=terms)

    def _ask_both(self, direction: Direction) -> tuple[Any, Any]:
        typical = direction.typical_amount
        return self._ask(direction, typical // SPREAD), self._ask(direction, typical * SPREAD)

    def _ask(self, direction: Direction, amount: int) -> Any:
        question: dict[str, str | int] = {
            "amount": amount,
            "token": self._symbols[direction],
            "fromChain": _get_slug(direction.token_in),
            "toChain": _get_slug(direction.token_out),
            "slippage": SLIPPAGE_PERCENT,
        }
        return self.client.get(f"{self.url}/quote", question)


def read_quote(direction: Direction, answer: Any) -> Quote:
    """Read an answer of ``/v1/quote``; what is received may exceed what is sent where an exchange is out of balance."""
    document = Field(answer, f"hop {direction.path}")
    amount_in = document.get("amountIn").read_integer(1)
    most = rescale(amount_in * 11 // 10, direction.token_in.decimals, direction.token_out.decimals)
    return Quote(amount_in, document.get("estimatedRecieved").read_integer(0, most))


def read_lane(direction: Direction, small: Any, large: Any) -> BridgeLane:
    """Return the lane between two quotes: flat and proportional fees that give no more than either says.

    The cost of an exchange grows faster than its amount, so between the quotes the straight line errs on the safe side.
    """
    first, last = read_quote(direction, small), read_quote(direction, large)
    costs = [_compute_cost(direction, each) for each in (first, last)]
    steps = last.amount_in - first.amount_in
    if steps < 0:
        raise Field(small, f"hop {direction.path}").get("amountIn").make_error(f"must be at most {last.amount_in}")
    rate = div_up(max(0, costs[1] - costs[0]) * WAD, steps) if steps else 0
    flat = max(cost - mul_div(each.amount_in, rate, WAD) for cost, each in zip(costs, (first, last), strict=True))
    with refuse_invalid(f"hop {direction.path}"):
        return BridgeLane(
            id=lane_id("hop", direction.token_in, direction.token_out),
            protocol="hop",
            token_in=direction.token_in,
            token_out=direction.token_out,
            fees=(LaneFee(name="bonder_fee", flat=max(0, flat)), LaneFee(name="lp_fee", rate_e18=rate)),
            min_amount_in=first.amount_in,
            max_amount_in=last.amount_in,
            fill_time_s=hop_fill_time(direction.token_in.chain_id, direction.token_out.chain_id),
            gas=DEPOSIT_GAS,
        )


def _list_carried() -> dict[str, list[Token]]:
    """Return Hop's symbols, and the listed token that each one is on each chain."""
    found: dict[str, list[Token]] = {}
    for chain_id, facts in bridge_facts("hop").items():
        for symbol, name in facts["tokens"].items():
            found.setdefault(symbol, []).append(token_registry.token(name, chain_id))
    return found


def _get_slug(token: Token) -> str:
    return str(CHAINS[token.chain_id].bridges["hop"]["slug"])


def _compute_cost(direction: Direction, each: Quote) -> int:
    """Return what does not arrive, in the token sent."""
    return each.amount_in - rescale(each.received, direction.token_out.decimals, direction.token_in.decimals)


BRIDGE = Bridge(adapter=HopAdapter)
