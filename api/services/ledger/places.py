"""Where transactions were mined of which somebody said that they pay something."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from adapters.rpc.endpoint import Answer, Question
from api.domain.ledger import Place
from api.services.ledger.chain_reader import ChainReader


def find_places(reader: ChainReader, hashes: Collection[str], wanted: frozenset[str]) -> Mapping[str, Place]:
    """Return the blocks of transactions, and whether one of the addresses occurs in what they say or did.

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
        tx_hash: (int(receipt["blockNumber"], 16), _names(wanted, receipt, record))
        for tx_hash, receipt, record in zip(asked, receipts, records, strict=True)
        if isinstance(receipt, dict) and isinstance(receipt.get("blockNumber"), str) and isinstance(record, dict)
    }
    blocks = reader.read_blocks({number for number, _ in mined.values()})
    return {
        tx_hash: Place(block=blocks[number], is_relevant=is_relevant)
        for tx_hash, (number, is_relevant) in mined.items()
        if number in blocks
    }


def _names(wanted: frozenset[str], receipt: dict[str, Any], record: dict[str, Any]) -> bool:
    said = " ".join(map(str, (receipt.get("logs"), record.get("to"), record.get("input")))).lower()
    return any(address[2:] in said for address in wanted)


def _keep(answers: list[Answer]) -> list[Answer]:
    return answers
