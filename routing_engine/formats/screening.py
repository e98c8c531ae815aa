"""Markets of tokens that do not move exact amounts are left out, unless the caller accepts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from routing_engine.formats.contents import Contents
from routing_engine.market import Market
from routing_engine.reference.transfers import transfers_of
from routing_engine.token_fields import Transfers


def screen(contents: Contents, accept: Collection[Transfers] = ()) -> Contents:
    """Leave out the markets of tokens whose transfers are neither exact nor accepted; count and withdraw them.

    Parameters
    ----------
    contents : Contents
        As a source gave them.
    accept : collection of Transfers
        Quotes in such tokens count them as if their transfers were exact: on chain less may arrive.
    """
    kept, reasons, left_out = [], Counter(contents.refused), []
    for market in contents.markets:
        inexact = _inexact(market, accept)
        if inexact is None:
            kept.append(market)
        else:
            reasons[f"{inexact}_token"] += 1
            left_out.append(market.id)
    if not left_out:
        return contents
    return replace(contents, markets=tuple(kept), refused=reasons, withdrawn=(*contents.withdrawn, *left_out))


def _inexact(market: Market, accept: Collection[Transfers]) -> Transfers | None:
    found = (transfers_of(token) for token in market.tokens)
    return next((kind for kind in found if kind is not Transfers.EXACT and kind not in accept), None)
