"""Things that change hands beside money: what is traded for money is not always a token that can be divided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from eth_utils.crypto import keccak

from adapters.rpc.abi import WORD, Log
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, TRANSFER_TOPICS, Movement, is_transfer
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
OF_NUMBERED = "0x" + keccak(text="Transfer(address,address,address,uint256,uint256)").hex()
"""ERC-6909, as claims on Uniswap v4's manager are: who did it is no topic."""
ALLOWING = frozenset(
    "0x" + keccak(text=text).hex()
    for text in ("Approval(address,address,uint256)", "ApprovalForAll(address,address,bool)")
)
"""Hands nothing over."""
MOST_NAMED = 32
"""Of one event, each once: among so many there is somebody who has not paid."""
LEAST_ADDRESS = 2**96
"""Amounts are smaller; nobody can make himself an address that is."""


def list_things(logs: Sequence[Log], frames: Sequence[int], *, is_known: Callable[[str], bool]) -> Iterator[Movement]:
    """Yield what events tell of ERC-721, ERC-1155 and ERC-6909, as losses that nothing makes up for.

    What comes into being is nobody's loss. Of other events of contracts that are not known, nobody can say what they
    mean: whomever one names may have handed something over.

    Parameters
    ----------
    frames : sequence of int
        The calls that wrote the logs; empty without a trace.
    is_known : callable
        Whether it is known what a contract's events mean, and what an address that one names has to do with it.
    """
    money = {log.address for log in logs if is_transfer(log)}
    for place, log in enumerate(logs):
        sender = _find_sender(log)
        if sender == ZERO_ADDRESS or (not sender and (is_known(log.address) or _is_harmless(log, money))):
            continue
        for account in (sender,) if sender else islice(dict.fromkeys(_list_named(log, is_known)), MOST_NAMED):
            yield Movement(
                token_address=log.address, sender=account, recipient="", amount=0, index=place, place=place,
                frame=frames[place] if frames else 0, is_pulled=True, is_thing=True, is_named=not sender,
            )  # fmt: skip


def _find_sender(log: Log) -> str:
    """Return who hands a thing over by an event of a known kind; the zero address where it comes into being."""
    if len(log.topics) != THING_TOPICS or log.topics[0] not in (TRANSFER_TOPIC, OF_NUMBERED, *OF_SEVERAL):
        return ""
    return f"0x{log.topics[2 if log.topics[0] in OF_SEVERAL else 1][-40:]}"


def _is_harmless(log: Log, money: Collection[str]) -> bool:
    """Whether an event allows something, or is a token's that moves money: of nothing too, as a fee of a speck is."""
    is_of_money = len(log.topics) == TRANSFER_TOPICS and log.topics[0] == TRANSFER_TOPIC and len(log.data) == WORD
    return (is_of_money and log.address in money) or log.topics[:1] in [(topic,) for topic in ALLOWING]


def _list_named(log: Log, is_known: Callable[[str], bool]) -> Iterator[str]:
    for word in (*(int(topic, 16) for topic in log.topics), *_list_words(log.data)):
        if LEAST_ADDRESS <= word < 2**160 and not is_known(account := f"0x{word:040x}"):
            yield account


def _list_words(data: bytes) -> Iterator[int]:
    for begin in range(0, len(data) - WORD + 1, WORD):
        yield int.from_bytes(data[begin : begin + WORD])
