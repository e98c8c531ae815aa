"""What is odd about a chain, in words for its operator."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.chain.price_feeds import BOUND, PriceBook, estimate_native_price
from adapters.chain.state import Memory
from routing_engine.reference.chains import CHAINS


def describe_oddities(memory: Memory, chain_id: int) -> Mapping[str, str]:
    """Say what is odd, by what it is about: what is said of one thing may change from block to block.

    Tokens that are not what the list says, feeds that cannot be used, pools in quarantine, a coin that its pools
    misprice.
    """
    book = memory.book or PriceBook(read_at=0)
    found = {note: note for note in memory.notes}
    found |= {name: f"feed {name} is not used: {fault}" for name, fault in book.faults.items()}
    for name, factor in memory.quarantined.items():
        found[name] = f"market {name} is left out: off the feeds' prices by a factor of {factor:.3g}"
    if chain_id in CHAINS:
        coin = CHAINS[chain_id].wrapped_native_token
        told, fed = estimate_native_price(memory.collect_markets().values(), book, chain_id), book.dollars.get(coin)
        if told and fed and not 1 / (1 + BOUND) <= told / fed <= 1 + BOUND:
            found[str(coin)] = f"{coin} costs {told:,.2f} dollars by its pools, {fed:,.2f} by its feed"
    return found
