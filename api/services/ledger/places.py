"""Where transactions were mined of which somebody said that they pay something."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from adapters.rpc.endpoint import Answer, Question
from api.domain.ledger import Place
from api.domain.watched import Watched
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
    mined = {
        tx_hash: (int(receipt["blockNumber"], 16), _names(watched, receipt, record))
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


def _names(watched: Watched, receipt: dict[str, Any], record: dict[str, Any]) -> bool:
    logs, calldata = str(receipt.get("logs")).lower(), str(record.get("input")).lower()
    said = f"{logs} {record.get('to')} {calldata}".lower()
    return (
        any(address[2:] in said for address in watched.recipients)
        or any(reference.hex() in calldata for reference in watched.references)
        or any(each.sender[2:] in logs and each.recipient[2:] in logs for each in watched.moves)
    )


def _keep(answers: list[Answer]) -> list[Answer]:
    return answers
