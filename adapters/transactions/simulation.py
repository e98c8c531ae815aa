"""Trying transactions out as their payer would send them, before anybody signs one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import AdapterError, BadPayload
from adapters.rpc.abi import CallFailed, Outcome, read_hex, read_quantity
from adapters.rpc.endpoint import Answer, LacksBlock, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import decode_outcomes, make_question
from adapters.transactions.base import Spending, Transaction
from adapters.transactions.erc20 import BALANCE_OF, make_allowance_call
from adapters.transactions.permit2 import make_granted_call
from adapters.transactions.reverts import read_revert
from routing_engine.model import Token

TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""``Transfer(address,address,uint256)`` of EIP-20."""
GAS_MARGIN = (3, 2)
GAS_EXTRA = 25_000
"""A limit is half as much again as what was used, and this: refunds hide a fifth, inner calls get 63 of 64 parts, and
the state moves until the transaction is mined. What is not used is not paid."""
BLOCK_S = 12
SIGNING_S = 120


class WouldFail(AdapterError):
    """A transaction would fail if it were sent now.

    Parameters
    ----------
    message : str
        What the node said.
    number : int
        Which one, counted from 0.
    reason : str
        What the contract itself said, which strangers may read; empty where it said nothing readable. The message may
        name the endpoint.
    """

    code = "refused"

    def __init__(self, message: str, *, number: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.number, self.reason = number, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What transactions would do, one after the other.

    Parameters
    ----------
    transactions : tuple of Transaction
        With gas limits, as far as they could be tried.
    received : mapping of str to int, or None
        What the recipient would get by the address of the token; None where the last could not be tried yet.
    """

    transactions: tuple[Transaction, ...]
    received: dict[str, int] | None


class PaymentChain:
    """One chain as a payment needs it.

    Parameters
    ----------
    rpc : RpcPool
        Asks the chain.
    """

    def __init__(self, rpc: RpcPool) -> None:
        self.rpc = rpc

    def read_balance(self, token: Token, holder: str) -> int:
        """Return what somebody has of a token, or of the chain's coin.

        Raises
        ------
        AdapterError
            If the chain or the token's contract does not answer.
        """
        if token.is_native:
            return self.rpc.ask([("eth_getBalance", [holder, "latest"])], lambda told: _read_number(told[0]))
        call = BALANCE_OF(token.address, holder)
        return self._call(call.to, call.data, call.decode_one)

    def read_balances(self, tokens: Sequence[Token], holder: str) -> dict[Token, int]:
        """Return what somebody has of tokens and of the chain's coin, asked in one request.

        What a contract does not say is missing; all tokens are, on a chain without Multicall3.

        Raises
        ------
        AdapterError
            If the chain does not answer.
        """
        calls = [BALANCE_OF(token.address, holder) for token in tokens if not token.is_native]
        questions: list[Question] = [
            ("eth_getBalance", [holder, "latest"]),
            ("eth_call", [make_question(calls), "latest"]),
        ]

        def parse(told: list[Answer]) -> dict[Token, int]:
            found = {token: _read_number(told[0]) for token in tokens if token.is_native}
            if isinstance(told[1], RpcRefused) or told[1] == "0x":
                return found
            outcomes = decode_outcomes(read_hex(told[1], "aggregate3"), len(calls))
            listed = (token for token in tokens if not token.is_native)
            for token, call, outcome in zip(listed, calls, outcomes, strict=True):
                with suppress(CallFailed):
                    found[token] = call.decode_one(outcome)
            return found

        return self.rpc.ask(questions, parse)

    def read_code(self, address: str) -> bytes:
        """Return the code of an account by most endpoints, empty for one that is no contract; raises as `read_balance`.

        By it money is sent where an account is said to be.
        """
        question: Question = ("eth_getCode", [address, "latest"])
        return self.rpc.majority.ask(lambda endpoint: endpoint.ask([question], lambda told: _read_code(told[0])))

    def read_allowance(self, spending: Spending, payer: str) -> int:
        """Return what the spender may take now; raises as `read_balance`."""
        call = make_allowance_call(spending, payer)
        return self._call(call.to, call.data, call.decode_one)

    def read_granted(self, spending: Spending, payer: str) -> int:
        """Return what Permit2 takes for the spending's user, until signing has had time; raises as `read_balance`."""
        call, moment = make_granted_call(spending, payer), self.rpc.read_head().timestamp + SIGNING_S

        def decode(outcome: Outcome) -> int:
            amount, until, _ = call.decode(outcome)
            return int(amount) if until >= moment else 0

        return self._call(call.to, call.data, decode)

    def simulate(self, batch: Sequence[Transaction], payer: str, recipient: str) -> Simulation:
        """Try transactions one after the other, on the newest block.

        Nodes that know ``eth_simulateV1`` try all of them; with others only the first is tried, and the rest has no gas
        limit until the first is mined.

        Raises
        ------
        WouldFail
            If one of them would fail.
        AdapterError
            If the chain does not answer.
        """
        head = self.rpc.read_head()
        calls = [_make_request(each, payer) for each in batch]
        block = {"blockOverrides": {"time": hex(head.timestamp + BLOCK_S)}, "calls": calls}
        answer = self._simulate_batch(
            {"blockStateCalls": [block], "traceTransfers": True, "validation": False}, len(calls)
        )
        if answer is None:
            return self._simulate_first(batch, calls)
        for number, call in enumerate(answer):
            if call.get("status") != "0x1":
                raise WouldFail(_explain(call), number=number, reason=read_revert(call.get("returnData")))
        tried = tuple(
            replace(each, gas=_add_margin(read_quantity(call, "gasUsed")))
            for each, call in zip(batch, answer, strict=True)
        )
        return Simulation(transactions=tried, received=_sum_received(answer[-1], recipient))

    def _simulate_batch(self, options: dict[str, Any], count: int) -> list[dict[str, Any]] | None:
        """Return what each call did, or None from nodes that know no such question; some say it is not available."""
        try:
            answer = self.rpc.ask(
                [("eth_simulateV1", [options, "latest"])], lambda told: _read_block_calls(told[0], count)
            )
        except LacksBlock:
            return None
        return None if isinstance(answer, RpcRefused) else answer

    def _simulate_first(self, batch: Sequence[Transaction], calls: Sequence[dict[str, str]]) -> Simulation:
        answer = self.rpc.ask([("eth_estimateGas", [calls[0], "latest"])], lambda told: told[0])
        if isinstance(answer, RpcRefused):
            raise WouldFail(str(answer), reason=read_revert(answer.data))
        first = replace(batch[0], gas=_add_margin(_read_number(answer)))
        return Simulation(transactions=(first, *batch[1:]), received=None)

    def _call(self, to: str, data: bytes, decode: Callable[[Outcome], int]) -> int:
        def parse(told: list[Answer]) -> int:
            if isinstance(told[0], RpcRefused):
                raise told[0]
            return decode(Outcome(read_hex(told[0], "result")))

        return self.rpc.ask([("eth_call", [{"to": to, "data": "0x" + data.hex()}, "latest"])], parse)


def _make_request(transaction: Transaction, payer: str) -> dict[str, str]:
    return {
        "from": payer,
        "to": transaction.to,
        "value": hex(transaction.value),
        "data": "0x" + transaction.data.hex(),
    }


def _read_block_calls(answer: Answer, count: int) -> list[dict[str, Any]] | RpcRefused:
    if isinstance(answer, RpcRefused):
        return answer
    calls = answer[0].get("calls") if isinstance(answer, list) and answer and isinstance(answer[0], dict) else None
    if not isinstance(calls, list) or len(calls) != count or not all(isinstance(call, dict) for call in calls):
        raise BadPayload(f"a simulation must answer {count} calls")
    return calls


def _sum_received(call: dict[str, Any], recipient: str) -> dict[str, int]:
    """Add up what a call's transfers bring to somebody; transfers of the coin are told as logs of its address."""
    to = "0x" + recipient[2:].rjust(64, "0")
    sums: dict[str, int] = {}
    for log in call.get("logs") or ():
        topics = list(log.get("topics") or ())
        if topics[:1] == [TRANSFER_TOPIC] and topics[2:] == [to]:
            token = str(log.get("address")).lower()
            sums[token] = sums.get(token, 0) + int.from_bytes(read_hex(log.get("data"), "data", 32))
    return sums


def _explain(call: dict[str, Any]) -> str:
    error = call.get("error")
    return str(error.get("message", ""))[:200] if isinstance(error, dict) else "it would fail"


def _read_number(answer: Answer) -> int:
    if isinstance(answer, RpcRefused):
        raise answer
    return read_quantity({"result": answer}, "result", 256)


def _read_code(answer: Answer) -> bytes:
    if isinstance(answer, RpcRefused):
        raise answer
    return read_hex(answer, "code")


def _add_margin(used: int) -> int:
    return used * GAS_MARGIN[0] // GAS_MARGIN[1] + GAS_EXTRA
