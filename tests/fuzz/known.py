"""What schemas cannot say: values that mean something to the service, by the name of the property."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any

from api.domain.clock import format_time
from api.domain.ids import IdPrefix
from routing_engine.reference import token_registry
from tests.fuzz.pool import Caller, Pool

CHAINS = (1, 10, 137, 8453, 42161)
SYMBOLS = ("USDC", "USDT", "DAI", "WETH", "ETH", "WBTC")
CURRENCIES = ("USDC", "USDC", "USDC", "USDT", "DAI", "ETH", "WETH", "WBTC", "USD", "EUR")
IDS: Mapping[str, IdPrefix] = {
    "order_id": IdPrefix.ORDER,
    "payment_order_id": IdPrefix.ORDER,
    "subscription_id": IdPrefix.SUBSCRIPTION,
    "quote_id": IdPrefix.QUOTE,
    "event_id": IdPrefix.EVENT,
    "transfer_id": IdPrefix.TRANSFER,
    "transfer": IdPrefix.TRANSFER,
    "delivery_id": IdPrefix.DELIVERY,
}
PAIR = ("from", "to", "input", "output")
"""How the properties of a pair of tokens and its amounts begin."""
HINDERING = ("unit_price", "quote_id", "allowProtocols", "denyProtocols", "outputAmount", "toAmount")
"""Optional properties that a request is mostly refused for."""
REFUND = frozenset({"amount", "decimals", "to", "transfer", "note"})
"""What a refund is asked for by."""
MOST_IMPROVED = 0.92
KEY_NAMES = 40
"""Idempotency keys in use at a time: most requests with one are repetitions, or mix two requests up."""


@dataclass(frozen=True, kw_only=True)
class Sense:
    """Makes requests meaningful.

    Parameters
    ----------
    receiver : str
        Where webhooks go: nothing is ever sent beyond this machine.
    """

    pool: Pool
    receiver: str
    caller: Caller
    dice: Random

    def improve(self, value: Any, chance: float) -> Any:
        """Return a body, a query or path parameters with meaningful values at most places that have some."""
        if isinstance(value, list):
            return [self.improve(each, chance) for each in value]
        if isinstance(value, float) and value.is_integer() and self.dice.random() < chance:
            return int(value)  # to JSON Schema 1.0 is an integer, to the service it is none
        if not isinstance(value, dict):
            return value
        made = {name: self._improve_one(name, inner, chance) for name, inner in value.items()}
        made = {name: inner for name, inner in made.items() if name not in HINDERING or self.dice.random() > chance}
        if {"fromToken", "toToken"} <= made.keys() and self.dice.random() < chance:
            made = self._choose_pair(made)
        return made

    def place(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return a path's parameters, mostly of what is there."""
        return {name: self._improve_one(name, value, MOST_IMPROVED) for name, value in parameters.items()}

    def pair(self, placed: dict[str, Any], body: Any) -> None:
        """Name a refund of the order that a request is about, where it names one; ask for a bit of what can go back."""
        known = self.pool.pick_refund(self.caller, self.dice)
        is_meant = "order_id" in placed and self.dice.random() < MOST_IMPROVED
        if not known or not is_meant or not isinstance(body, dict):
            return
        if "refund" in body:
            body["refund"], placed["order_id"] = known
        elif body.keys() & REFUND and body.keys() <= REFUND:
            placed["order_id"], body["amount"] = known[1], str(self.dice.randint(1, 9))
            body.pop("decimals", None)
            body.pop("transfer", None)

    def _improve_one(self, name: str, value: Any, chance: float) -> Any:
        if name == "webhook_url":
            return self.choose_webhook_url()
        if name in MEANT and self.dice.random() < chance:
            return MEANT[name](self)
        return self.improve(value, chance)

    def choose_webhook_url(self) -> str:
        """Return an address on this machine, mostly of one that wants no more; or a name that nobody has."""
        if self.caller.env_mode == "live":
            return "https://hooks.invalid/hook"
        return f"{self.receiver}/{self.dice.choice(('410', '410', '410', '410', '500', '200'))}"

    def choose_id(self, name: str) -> str:
        """Return an id for a parameter."""
        return self.pool.pick(IDS[name], self.caller, self.dice)

    def choose_moment(self) -> str:
        """Return a moment that a link may expire at, or that lies a few hours back."""
        return format_time(datetime.now(UTC) + timedelta(hours=self.dice.choice((1, 2, 25, 700, -1, -5))))

    def choose_amount(self) -> str | int:
        """Return an amount between a unit and more than all the world has."""
        amount = self.dice.randint(1, 9) * 10 ** self.dice.choice((0, 3, 5, 6, 6, 7, 8, 9, 18, 18, 19, 21, 30, 76))
        return self.dice.choice((amount, str(amount)))

    def _choose_pair(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for two tokens of the sandbox, in the words of the operation."""
        others = {name: value for name, value in asked.items() if not name.startswith(PAIR)}
        first, second = self.dice.choice(CHAINS), self.dice.choice(CHAINS)
        words = ("fromChainId", "toChainId", "inputAmount", "outputAmount")
        if not asked.keys() & set(words) or ("fromChain" in asked and self.dice.random() < 0.7):
            words = ("fromChain", "toChain", "fromAmount", "toAmount")
        amount = {self.dice.choice((words[2], words[2], words[2], words[3])): str(self.choose_amount())}
        sold, bought = self.dice.choice(SYMBOLS), self.dice.choice(SYMBOLS)
        pair = {"fromToken": _find_token(sold, first), "toToken": _find_token(bought, second)}
        return others | pair | amount | {words[0]: str(first), words[1]: str(second)}


MEANT: Mapping[str, Callable[[Sense], Any]] = {
    **{name: lambda sense, name=name: sense.choose_id(name) for name in IDS},
    "cursor": lambda sense: sense.pool.pick_cursor(sense.dice),
    "since": lambda sense: sense.dice.choice((sense.choose_moment(), sense.choose_id("event_id"), "0")),
    "expires_at": lambda sense: sense.choose_moment(),
    **dict.fromkeys(
        ("created_from", "created_to", "updated_from", "updated_to", "moved_from", "moved_to"),
        lambda sense: sense.choose_moment(),
    ),
    "currency": lambda sense: sense.dice.choice(CURRENCIES),
    "decimals": lambda sense: sense.dice.choice((0, 2, 6, 6, 18, 18, 36)),
    "amount": lambda sense: sense.choose_amount(),
    "env_mode": lambda sense: sense.caller.env_mode,
    **dict.fromkeys(
        ("success_callback_url", "cancel_callback_url", "failure_callback_url"),
        lambda sense: sense.dice.choice(("https://shop.example/back", "https://shop.example/%F0%9F%8D%B5?a=b&c")),
    ),
    "image_url": lambda _: "https://shop.example/tea.png",
    "to": lambda sense: "0x" + "".join(sense.dice.choices("0123456789abcdef", k=40)),
    "logo": lambda sense: draw_logo(sense.dice.choice((80, 120))),
    "accent_color": lambda sense: sense.dice.choice(("#3346d3", "#ffffff", "")),
    "support": lambda sense: sense.dice.choice(("help@shop.example", "https://shop.example/help", "")),
    "metadata": lambda sense: {"cart": str(sense.dice.randrange(50))},
    "Idempotency-Key": lambda sense: f"key-{sense.dice.randrange(KEY_NAMES)}",
    "status": lambda sense: sense.dice.choice(("created", "processing", "success", "failed", "expired")),
    "payer": lambda sense: "0x" + "".join(sense.dice.choices("0123456789abcdef", k=40)),
    "chainId": lambda sense: str(sense.dice.choice(CHAINS)),
    "search": lambda sense: sense.dice.choice((*SYMBOLS, "0x", "éłement")),
}


@cache
def _find_token(symbol: str, chain_id: int) -> str:
    known = [info for info in token_registry.tokens() if chain_id in info.chain_ids]
    return next((info for info in known if info.symbol == symbol), known[0]).on(chain_id).address


@cache
def draw_logo(pixels: int) -> str:
    """Return a PNG in base64."""
    from PIL import Image

    kept = io.BytesIO()
    Image.new("RGB", (pixels, pixels), "teal").save(kept, "PNG")
    return base64.b64encode(kept.getvalue()).decode()
