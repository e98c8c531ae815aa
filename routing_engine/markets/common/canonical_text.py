"""A market's whole state as JSON text, the same for equal states: what content hashes are made of.

It is the market's record with the decimals of its tokens, keys in order, without spaces. Pools of a few plain fields
are by far the most and change with every block, so their text is filled into a template: first what stays the same
while they are traded, then their reserves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from routing_engine.market import Market
from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.codecs import BY_TYPE, DIGITS, Codec, list_codecs
from routing_engine.model import Token

Write: TypeAlias = Callable[[Any], object]
"""Makes of a field's value what is filled in."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Template(NamedTuple):
    """How the states of one kind are written: what is read of a market, is written, and filled into `text`.

    Integers are filled in as they are, so nothing writes them. What `read_amounts` gives is filled in last, where
    `text` has its own places doubled. Fields that `identify` gives the same of have the same text but for it.
    """

    text: str
    read: Callable[[Market], tuple[Any, ...]]
    writers: tuple[Write | None, ...]
    read_amounts: Callable[[Market], Any]
    identify: Callable[[Market], Any]


class TextWriter:
    """Writes states of markets, one after the other: for a later state of a market, little but its amounts.

    Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._parts: dict[str, tuple[type, Any, str]] = {}

    def write(self, market: Market) -> str:
        """Return the text of a market's state."""
        kind = type(market)
        template = _make_template(kind)
        if template is None:
            return write_canonical_text(market)
        identity = template.identify(market)
        known, its_identity, part = self._parts.get(market.id, (None, None, ""))
        if known is not kind or its_identity != identity:
            part = _write_all_but_amounts(template, market)
            self._parts[market.id] = kind, identity, part
        text: str = part % template.read_amounts(market)
        return text


def write_canonical_text(market: Market) -> str:
    """Return the text of a market's state."""
    template = _make_template(type(market))
    if template is None:
        return _encode(market.to_record() | {"decimals": [token.decimals for token in market.tokens]})
    text: str = _write_all_but_amounts(template, market) % template.read_amounts(market)
    return text


def _write_all_but_amounts(template: Template, market: Market) -> str:
    pairs = zip(template.writers, template.read(market), strict=True)
    return template.text % tuple([write(value) if write else value for write, value in pairs])


@cache
def _make_template(kind: type) -> Template | None:
    """Return the template of a kind whose record is its plain fields; None for other kinds."""
    if not issubclass(kind, BaseMarket) or kind.to_record is not BaseMarket.to_record:
        return None
    codecs = dict(list_codecs(kind))
    if not _PLAIN.keys() >= set(codecs.values()):
        return None
    places = {name: (name, *_PLAIN[codec]) for name, codec in codecs.items()}
    places |= {"kind": ("kind", "%s", _write_text), "decimals": ("tokens", "[%s]", _join_decimals)}
    names = sorted(places)
    amounts = [name for name in names if codecs.get(name) is DIGITS]
    others = [name for name in names if name not in amounts]
    # Tokens are the same whatever their decimals are, which the text holds too.
    told = [f"{name}.decimals" for name, codec in codecs.items() if codec is BY_TYPE[Token]]
    return Template(
        text="{" + ",".join(f'"{name}":{places[name][1]}' for name in names) + "}",
        read=attrgetter(*(places[name][0] for name in others)),
        writers=tuple(places[name][2] for name in others),
        read_amounts=attrgetter(*amounts) if amounts else lambda _: (),
        identify=attrgetter(*(name for name in codecs if name not in amounts), *told),
    )


def _join_decimals(tokens: Iterable[Token]) -> str:
    return ",".join([str(token.decimals) for token in tokens])


def _write_text(text: str) -> str:
    return encode_basestring_ascii(text).replace("%", "%%")


def _write_token(token: Token) -> str:
    return _write_text(token.key)


_PLAIN: dict[Codec, tuple[str, Write | None]] = {
    BY_TYPE[str]: ("%s", _write_text),
    BY_TYPE[int]: ("%d", None),
    BY_TYPE[Token]: ("%s", _write_token),
    DIGITS: ('"%%d"', None),
}
"""Where the values of plain fields are filled in, and what writes them."""
