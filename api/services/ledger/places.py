"""Where transactions were mined of which somebody said that they pay something."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from adapters.rpc.endpoint import Answer, Question
from api.domain.ledger import Place
from api.domain.watched import Watched
from api.services.ledger.candidates import search_addresses, search_references
from api.services.ledger.chain_reader import ChainReader


def find_places(reader: ChainReader, hashes: Collection[str], watched: Watched) -> Mapping[str, Place]:
    """Return the blocks of transactions, and whether what they say or did has to do with what is watched.

    Raises
    ------
    ChainUnavailable
        If the chain can't be read just now.
    """
    asked = sorted(hashes)
    questions: list[Question] = [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in asked]
    questions += [("eth_getTransactionByHash", [tx_hash]) for tx_hash in asked]
    answers = reader.ask(questions, _keep) if questions else []
    receipts, records = answers[: len(asked)], answers[len(asked) :]
    search = RelevanceSearch(watched)
    mined = {
        tx_hash: (int(receipt["blockNumber"], 16), search.is_relevant(receipt, record))
        for tx_hash, receipt, record in zip(asked, receipts, records, strict=True)
        if isinstance(receipt, dict) and isinstance(receipt.get("blockNumber"), str) and isinstance(record, dict)
    }
    blocks = reader.read_blocks({number for number, _ in mined.values()})
    return {
        tx_hash: Place(
            block=blocks[number],
            is_relevant=is_relevant,
            is_read=reader.read_before.has(tx_hash, blocks[number].hash),
        )
        for tx_hash, (number, is_relevant) in mined.items()
        if number in blocks
    }


class RelevanceSearch:
    """Says whether transactions have to do with what is watched, in one pass over each, however much is watched.

    Strangers choose which are looked at, and make them as long as they like.
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._addresses, self._references = search_addresses(watched.recipients), search_references(watched.references)

    def is_relevant(self, receipt: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
        """Whether a vendor is called or named, a refund's reference is there, or a token moved as one is to."""
        calldata = record.get("input") or "0x"
        logs = [log for log in _list(receipt.get("logs")) if isinstance(log, dict)]
        words = {str(word) for log in logs for word in (log.get("address"), *_list(log.get("topics")))}
        told = {f"0x{word[-40:].lower()}" for word in words}
        return (
            not self._watched.recipients.isdisjoint((str(record.get("to")).lower(), *told))
            or self._addresses.is_named_in(calldata)
            or self._references.is_named_in(calldata)
            or any(self._addresses.is_named_in(log.get("data") or "0x") for log in logs)
            or any(each.sender in told and each.recipient in told for each in self._watched.moves)
        )


def _list(value: object) -> list[Any]:
    """Return a list as it is, and of whatever else an endpoint tells none."""
    return value if isinstance(value, list) else []


def _keep(answers: list[Answer]) -> list[Answer]:
    return answers
