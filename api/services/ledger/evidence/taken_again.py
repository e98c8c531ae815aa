"""What tokens deliver and take a part of again, as some tax or burn what comes to somebody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.rpc.abi import Log
from api.services.ledger.evidence.movements import is_transfer
from routing_engine.reference import token_registry


def find_taken_again(chain_id: int, logs: Sequence[Log]) -> Mapping[int, int]:
    """Return how much of what an event delivered its token took from the recipient at once, by the event's place.

    Nothing but events of the token lies between the two: what a merchant sends on himself, in a call or an operation of
    his own, was paid. So was what leaves him whole. Listed tokens are known to take nothing. Events alone tell it, so
    all endpoints tell the same of it, with a trace or without.
    """
    taken: dict[int, int] = {}
    came: dict[str, tuple[int, int]] = {}
    writer = ""
    for place, log in enumerate(logs):
        if log.address != writer:
            writer, came = log.address, {}
        if not is_transfer(log) or token_registry.info_of(chain_id, writer) is not None:
            continue
        sender, recipient = log.topics[1:]
        amount = int.from_bytes(log.data)
        delivered, left = came.get(sender, (place, 0))
        if amount < left:
            taken[delivered] = taken.get(delivered, 0) + amount
            came[sender] = delivered, left - amount
        came[recipient] = place, amount
    return taken
