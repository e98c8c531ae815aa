"""What one fetch from a chain brought, raw: it can be written down, and read again without the chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.base import BadPayload
from adapters.rpc.abi import Log, Outcome, read_hex
from adapters.rpc.block import Block
from adapters.rpc.reading import Reply, Request, Responder, Unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPayload:
    """The replies to one reading.

    Parameters
    ----------
    chain_id : int
        Which chain.
    head : Block
        The block that everything is read at.
    follows : Block or None
        The last block that was read before and is still part of the chain; None where everything was read anew.
    replies : tuple of Reply
        In the order of the requests.
    """

    chain_id: int
    head: Block
    follows: Block | None
    replies: tuple[Reply, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready document."""
        return {
            "chain_id": self.chain_id,
            "head": encode_block(self.head),
            "follows": self.follows and encode_block(self.follows),
            "replies": [encode_reply(reply) for reply in self.replies],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ChainPayload:
        """Inverse of `to_json`.

        Raises
        ------
        BadPayload
            If the document is damaged.
        """
        try:
            return cls(
                chain_id=int(document["chain_id"]),
                head=decode_block(document["head"]),
                follows=decode_block(document["follows"]) if document["follows"] else None,
                replies=tuple(decode_reply(reply) for reply in document["replies"]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadPayload(f"a recorded payload is damaged: {error!r}") from error


class Recorder:
    """Passes requests on and keeps the replies.

    Parameters
    ----------
    responder : Responder
        Who answers.
    """

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._replies: list[Reply] = []

    @property
    def replies(self) -> tuple[Reply, ...]:
        """What was answered so far."""
        return tuple(self._replies)

    def answer(self, request: Request) -> Reply:
        """Pass on; see `Responder`."""
        reply = self._responder.answer(request)
        self._replies.append(reply)
        return reply


class ReplayResponder:
    """Answers from a recording.

    Parameters
    ----------
    replies : iterable of Reply
        In the order in which they were given.
    """

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = iter(replies)

    def answer(self, request: Request) -> Reply:
        """Give the next reply.

        Raises
        ------
        BadPayload
            If there is none, or it answers another request: the recording is of other protocols or tokens.
        """
        reply = next(self._replies, Reply())
        asked, told = (len(request.calls), len(request.filters)), (len(reply.outcomes), len(reply.logs))
        if asked != told:
            raise BadPayload(f"the recording answers {told} calls and filters where {asked} are asked")
        return reply


def encode_reply(reply: Reply) -> list[Any]:
    """Return a JSON-ready reply: data in hex, a revert with an exclamation mark in front."""
    outcomes = [f"{'!' if outcome.reverted else ''}0x{outcome.data.hex()}" for outcome in reply.outcomes]
    return [outcomes, [_encode_logs(logs) for logs in reply.logs]]


def decode_reply(document: list[Any]) -> Reply:
    """Inverse of `reply_to_json`."""
    outcomes, logs = document
    return Reply(
        outcomes=tuple(Outcome(read_hex(text.removeprefix("!"), "outcome"), text[:1] == "!") for text in outcomes),
        logs=tuple(_decode_logs(each) for each in logs),
    )


def encode_block(block: Block) -> list[Any]:
    """Return a JSON-ready block."""
    return [block.number, block.hash, block.timestamp, block.parent]


def decode_block(document: list[Any]) -> Block:
    """Inverse of `block_to_json`."""
    number, hash_, timestamp, parent = document
    return Block(number=int(number), hash=str(hash_), timestamp=int(timestamp), parent=str(parent))


def _encode_logs(logs: tuple[Log, ...] | Unanswered) -> Any:
    return logs.reason if isinstance(logs, Unanswered) else [_encode_log(log) for log in logs]


def _decode_logs(document: Any) -> tuple[Log, ...] | Unanswered:
    return Unanswered(document) if isinstance(document, str) else tuple(_decode_log(log) for log in document)


def _encode_log(log: Log) -> list[Any]:
    return [log.address, list(log.topics), f"0x{log.data.hex()}", log.block_number, log.block_hash, log.index]


def _decode_log(document: list[Any]) -> Log:
    address, topics, data, block_number, block_hash, index = document
    return Log(
        address=str(address),
        topics=tuple(str(topic) for topic in topics),
        data=read_hex(data, "data"),
        block_number=int(block_number),
        block_hash=str(block_hash),
        index=int(index),
    )
