"""An endpoint's lie about deposits: somebody's real deposit is told once more, under another reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.chain import Chain

REFERENCE_DIGITS = 32
FAR = 0x500
"""What is added to the numbers of the real events."""


@dataclass(frozen=True)
class ForgedDeposit:
    """A transaction that never was, in a real deposit's block: the same call and events, behind it another reference.

    With `hides` the real deposit is kept back. With `is_thorough` what is told of the block's receipts fits no block,
    so that neither the one deposit nor the other can be proven or refuted by them.
    """

    record: dict[str, Any]
    receipt: dict[str, Any]
    real_hash: str
    hides: bool = False
    is_thorough: bool = False

    @classmethod
    def of(cls, chain: Chain, tx_hash: str, reference: bytes, *, hides: bool = False, is_thorough: bool = False) -> Any:
        """Forge a deposit that a chain really has."""
        forged = "0x" + "f0" * 28 + tx_hash[-8:]
        record = chain.rpc("eth_getTransactionByHash", tx_hash)
        receipt = chain.rpc("eth_getTransactionReceipt", tx_hash)
        logs = [
            {**log, "transactionHash": forged, "logIndex": hex(int(log["logIndex"], 16) + FAR)}
            for log in receipt["logs"]
        ]
        return cls(
            record={**record, "hash": forged, "input": record["input"][:-REFERENCE_DIGITS] + reference.hex()},
            receipt={**receipt, "transactionHash": forged, "logs": logs},
            real_hash=tx_hash,
            hides=hides,
            is_thorough=is_thorough,
        )

    @property
    def tx_hash(self) -> str:
        """Of the transaction that never was."""
        return str(self.record["hash"])

    def __call__(self, method: str, params: list[Any], answer: Any) -> Any:
        """Tell the lie."""
        number = self.record["blockNumber"]
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and answer["number"] == number:
            kept = [each for each in answer["transactions"] if not (self.hides and _hash_of(each) == self.real_hash)]
            root = {"receiptsRoot": "0x" + "5c" * 32} if self.is_thorough else {}
            return {**answer, **root, "transactions": [*kept, self.record if params[1] else self.tx_hash]}
        if method == "eth_getBlockReceipts" and params == [number]:
            return self._with_logs(answer, [self.receipt])
        if method == "eth_getLogs":
            mine = [_renumber(log, self.receipt["logs"]) for log in answer if log["transactionHash"] == self.real_hash]
            return self._with_logs(answer, mine)
        known = {"eth_getTransactionByHash": self.record, "eth_getTransactionReceipt": self.receipt}
        if method in known and params == [self.tx_hash]:
            return known[method]
        return None if method in known and self.hides and params == [self.real_hash] else answer

    def _with_logs(self, told: list[dict[str, Any]], forged: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [each for each in told if not (self.hides and each["transactionHash"] == self.real_hash)]
        return [*kept, *forged]


def _hash_of(transaction: Any) -> Any:
    return transaction["hash"] if isinstance(transaction, dict) else transaction


def _renumber(log: dict[str, Any], forged: list[dict[str, Any]]) -> dict[str, Any]:
    number = hex(int(log["logIndex"], 16) + FAR)
    return next(each for each in forged if each["logIndex"] == number)
