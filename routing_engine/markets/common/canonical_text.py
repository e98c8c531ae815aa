"""A market's whole state as JSON text, the same for equal states: what content hashes are made of.

It is the market's record with the decimals of its tokens, keys in order, without spaces. Pools of a few plain fields
are by far the most and change with every block, so their text is filled into a template.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from typing import Any, TypeAlias

from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.codecs import BY_TYPE, DIGITS, Codec, list_codecs
from routing_engine.model import Market, Token

Part: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any], str]]
"""What reads a value of a market, and what writes it as JSON."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def write_canonical_text(market: Market) -> str:
    """Return the text of a market's state."""
    filled = _make_template(type(market))
    if filled is None:
        return _encode(market.to_record() | {"decimals": [token.decimals for token in market.tokens]})
    template, parts = filled
    return template % tuple([write(read(market)) for read, write in parts])


@cache
def _make_template(kind: type) -> tuple[str, tuple[Part, ...]] | None:
    """Return the template of a kind whose record is its plain fields, and what fills it; None for other kinds."""
    if not issubclass(kind, BaseMarket) or kind.to_record is not BaseMarket.to_record:
        return None
    codecs = dict(list_codecs(kind))
    if not _PLAIN.keys() >= set(codecs.values()):
        return None
    parts: dict[str, Part] = {name: (attrgetter(name), _PLAIN[codec]) for name, codec in codecs.items()}
    parts["kind"] = attrgetter("kind"), encode_basestring_ascii
    parts["decimals"] = attrgetter("tokens"), _write_decimals
    names = sorted(parts)
    return "{" + ",".join(f'"{name}":%s' for name in names) + "}", tuple(parts[name] for name in names)


def _write_decimals(tokens: Iterable[Token]) -> str:
    return f"[{','.join([str(token.decimals) for token in tokens])}]"


def _write_token(token: Token) -> str:
    return encode_basestring_ascii(token.key)


_PLAIN: dict[Codec, Callable[[Any], str]] = {
    BY_TYPE[str]: encode_basestring_ascii,
    BY_TYPE[int]: str,
    BY_TYPE[Token]: _write_token,
    DIGITS: '"{}"'.format,
}
"""What writes the values of plain fields."""
