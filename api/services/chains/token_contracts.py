"""What a token's contract says of itself, asked on its chain."""

from __future__ import annotations

from functools import partial

from adapters.base import AdapterError
from adapters.chain.tokens import DECIMALS
from adapters.rpc.abi import Call, CallFailed, Outcome, read_hex
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from api.domain.errors import InvalidData


def read_decimals(pool: RpcPool, token: str) -> int:
    """Return a token's decimals, as more than half of the chain's endpoints say: prices are paid by that number.

    Raises
    ------
    InvalidData
        Naming `token` if there is no contract, or none that says its decimals; naming `chain` if too few of
        its endpoints answer alike.
    """
    call = DECIMALS(token)
    questions: list[Question] = [
        ("eth_getCode", [token, "latest"]),
        ("eth_call", [{"to": token, "data": "0x" + call.data.hex()}, "latest"]),
    ]
    try:
        has_code, decimals = pool.majority.ask(lambda endpoint: endpoint.ask(questions, partial(_parse, call)))
    except AdapterError as fault:
        message = f"Chain {pool.chain_id} does not answer, so the token can't be checked; try again ({fault})"
        raise InvalidData.at("chain", message) from fault
    if not has_code:
        raise InvalidData.at("token", f"There is no contract at {token} on chain {pool.chain_id}")
    if decimals is None:
        raise InvalidData.at("token", f"The contract at {token} is no token: it does not say its decimals")
    return decimals


def _parse(call: Call, answers: list[Answer]) -> tuple[bool, int | None]:
    """Return whether there is code, and the decimals that it says, if any."""
    code, told = answers
    has_code = bool(read_hex(code, "eth_getCode"))
    if isinstance(told, RpcRefused):
        return has_code, None
    try:
        return has_code, int(call.decode_one(Outcome(read_hex(told, "eth_call"))))
    except CallFailed:
        return has_code, None
