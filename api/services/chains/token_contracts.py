"""What a token's contract says of itself, asked on its chain."""

from __future__ import annotations

from adapters.base import AdapterError
from adapters.chain.tokens import DECIMALS
from adapters.rpc.abi import CallFailed, Outcome, read_hex
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from api.domain.errors import InvalidData


def read_decimals(pool: RpcPool, token: str) -> int:
    """Return a token's decimals.

    Raises
    ------
    InvalidData
        Naming `token` if there is no contract, or none that says its decimals; naming `chain` if the chain does not
        answer.
    """
    call = DECIMALS(token)
    questions: list[Question] = [
        ("eth_getCode", [token, "latest"]),
        ("eth_call", [{"to": token, "data": "0x" + call.data.hex()}, "latest"]),
    ]
    try:
        code, outcome = pool.ask(questions, _parse)
    except AdapterError as fault:
        message = f"Chain {pool.chain_id} does not answer, so the token can't be checked; try again ({fault})"
        raise InvalidData.at("chain", message) from fault
    if not code:
        raise InvalidData.at("token", f"There is no contract at {token} on chain {pool.chain_id}")
    try:
        return int(call.decode_one(outcome))
    except CallFailed as fault:
        raise InvalidData.at("token", f"The contract at {token} is no token: it does not say its decimals") from fault


def _parse(answers: list[Answer]) -> tuple[bytes, Outcome]:
    code, decimals = answers
    if isinstance(decimals, RpcRefused):
        return read_hex(code, "eth_getCode"), Outcome(b"", reverted=True)
    return read_hex(code, "eth_getCode"), Outcome(read_hex(decimals, "eth_call"))
