"""Gas prices as options: one for all chains, or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routing_engine.amounts import parse_decimal
from routing_engine.errors import InvalidRequest

OPTION = "--gas-price-gwei"
GWEI_DECIMALS = 9


def parse_gas_prices(texts: Sequence[str], chains: Iterable[int]) -> dict[int, int]:
    """Return wei per gas unit by chain id.

    Parameters
    ----------
    texts : sequence of str
        ``G`` for every chain of the market, or ``CHAIN=G`` for one; the latter wins.
    chains : iterable of int
        The market's chains.

    Raises
    ------
    InvalidRequest
        If a price is not a number of gwei, a chain is not in the market, or one is named twice.
    """
    known = sorted(set(chains))
    everywhere: dict[int, int] = {}
    single: dict[int, int] = {}
    for text in texts:
        chain, equals, price = text.rpartition("=")
        wei = parse_decimal(price, GWEI_DECIMALS, OPTION, "a gwei")
        named = [_chain(chain, known)] if equals else known
        target = single if equals else everywhere
        if target.keys() & named:
            raise InvalidRequest(OPTION, f"{text!r} sets a price that is set already; give each once")
        target.update(dict.fromkeys(named, wei))
    return everywhere | single


def _chain(text: str, known: Sequence[int]) -> int:
    for chain_id in known:
        if text == str(chain_id):
            return chain_id
    raise InvalidRequest(OPTION, f"{text!r} is no chain id of this market; it has {', '.join(map(str, known))}")
