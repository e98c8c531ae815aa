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
from typing import Any, NamedTuple, TypeAlias

from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.codecs import BY_TYPE, DIGITS, Codec, list_codecs
from routing_engine.model import Market, Token

Write: TypeAlias = Callable[[Any], object]
"""Makes of a field's value what is filled in."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Template(NamedTuple):
    """How the states of one kind are written: what is read of a market, is written, and filled into `text`.

    Integers are filled in as they are, so nothing writes them.
    """

    text: str
    read: Callable[[Market], tuple[Any, ...]]
    writers: tuple[Write | None, ...]


def write_canonical_text(market: Market) -> str:
    """Return the text of a market's state."""
    template = _make_template(type(market))
    if template is None:
        return _encode(market.to_record() | {"decimals": [token.decimals for token in market.tokens]})
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
    places |= {"kind": ("kind", "%s", encode_basestring_ascii), "decimals": ("tokens", "[%s]", _join_decimals)}
    names = sorted(places)
    return Template(
        text="{" + ",".join(f'"{name}":{places[name][1]}' for name in names) + "}",
        read=attrgetter(*(places[name][0] for name in names)),
        writers=tuple(places[name][2] for name in names),
    )


def _join_decimals(tokens: Iterable[Token]) -> str:
    return ",".join([str(token.decimals) for token in tokens])


def _write_token(token: Token) -> str:
    return encode_basestring_ascii(token.key)


_PLAIN: dict[Codec, tuple[str, Write | None]] = {
    BY_TYPE[str]: ("%s", encode_basestring_ascii),
    BY_TYPE[int]: ("%d", None),
    BY_TYPE[Token]: ("%s", _write_token),
    DIGITS: ('"%d"', None),
}
"""Where the values of plain fields are filled in, and what writes them."""
