"""Whether an account has signed something: by its key, or as its contract says."""

from __future__ import annotations

from collections.abc import Sequence

from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.exceptions import ValidationError

from adapters.rpc.abi import Function, read_hex
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.single_endpoint import Asker

KEY_SIGNATURE_BYTES = 65
ETHEREUM_OFFSET = 27
RECOVERY_IDS = frozenset({0, 1, 27, 28})
"""The last byte of a signature; most wallets write it the second way."""
MOST_GAS = 1_000_000
"""What a contract may use to check a signature; a Safe of a dozen owners needs a tenth of it."""
IS_VALID = Function("isValidSignature(bytes32,bytes)", "bytes4")
"""ERC-1271; selector 1626ba7e, which is also what it answers."""
MAGIC = bytes.fromhex("1626ba7e")
DELEGATION = bytes.fromhex("ef0100")
"""What the code of an account begins with that has delegated itself (EIP-7702): its key still rules it."""


def accepts_as_contract(rpc: Asker, account: str, digest: bytes, signature: bytes, number: int) -> bool:
    """Say whether a contract has signed a digest; an account without code has not.

    It is asked, with bounded gas, in block `number` and in the newest one: whoever rules it now need not have ruled it
    then, and the other way round.

    Raises
    ------
    AdapterError
        If the chain does not answer, or has not got the state of that block any more.
    """
    blocks = [hex(number), "latest"]
    codes = rpc.ask([("eth_getCode", [account, block]) for block in blocks], _read_codes)
    if not all(codes) or any(code.startswith(DELEGATION) for code in codes):
        return False
    call = IS_VALID(account, digest, signature)
    request = {"to": account, "data": "0x" + call.data.hex(), "gas": hex(MOST_GAS)}
    questions: list[Question] = [("eth_call", [request, block]) for block in blocks]
    return rpc.ask(questions, _do_all_accept)


def recover_signer(digest: bytes, signature: bytes) -> str | None:
    """Return the address, in lower case, whose key has signed a digest; None where the bytes are no such signature."""
    if len(signature) != KEY_SIGNATURE_BYTES or signature[-1] not in RECOVERY_IDS:
        return None
    try:
        parts = Signature(signature[:-1] + bytes([signature[-1] % ETHEREUM_OFFSET]))
        return str(parts.recover_public_key_from_msg_hash(digest).to_address())
    except (BadSignature, ValidationError):
        return None


def _read_codes(answers: Sequence[Answer]) -> list[bytes]:
    for answer in answers:
        if isinstance(answer, RpcRefused):
            raise answer
    return [read_hex(answer, "code") for answer in answers]


def _do_all_accept(answers: Sequence[Answer]) -> bool:
    """Whether every answer is ERC-1271's yes; a revert is a no."""
    return all(not isinstance(each, RpcRefused) and read_hex(each, "result")[:4] == MAGIC for each in answers)
