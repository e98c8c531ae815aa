"""Things that change hands beside money: what is traded for money is not always a token that can be divided."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from eth_utils.crypto import keccak

from adapters.rpc.abi import Log
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, Movement
from routing_engine.model import ZERO_ADDRESS

THING_TOPICS = 4
"""What hands a thing over has its number, or its amount's holder, as a topic too."""
OF_SEVERAL = frozenset(
    "0x" + keccak(text=text).hex()
    for text in (
        "TransferSingle(address,address,address,uint256,uint256)",
        "TransferBatch(address,address,address,uint256[],uint256[])",
    )
)
"""ERC-1155: the first of its addresses is who did it."""


def list_things(logs: Sequence[Log], frames: Sequence[int], *, but_of: Collection[str]) -> Iterator[Movement]:
    """Yield what events of ERC-721 and ERC-1155 tell of, as losses that nothing makes up for.

    What comes into being is nobody's loss, and neither is what those in `but_of` hand over.
    """
    for place, log in enumerate(logs):
        if len(log.topics) != THING_TOPICS or log.topics[0] not in (TRANSFER_TOPIC, *OF_SEVERAL):
            continue
        first = 2 if log.topics[0] in OF_SEVERAL else 1
        sender, recipient = (f"0x{topic[-40:]}" for topic in log.topics[first : first + 2])
        if sender in (ZERO_ADDRESS, *but_of):
            continue
        yield Movement(
            token_address=log.address, sender=sender, recipient=recipient, amount=0, index=place, place=place,
            frame=frames[place] if frames else 0, is_pulled=True, is_thing=True,
        )  # fmt: skip
