"""What a transaction pays by its calldata alone: calls that the builders of this package make, read back.

Only calls of contracts that are listed, encoded just as the builders encode them, and with nothing or a reference
behind them. What such a call pays follows from the contract's code, whatever the tokens in it do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from adapters.chain.deployments import deployments_of
from adapters.rpc.abi import Function
from adapters.transactions import across, across_swap, cctp, stargate, uniswap_v2, uniswap_v3, uniswap_v4
from adapters.transactions.base import REFERENCE_BYTES
from adapters.transactions.universal_router import EXECUTE
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

LONGEST = 8_192
"""Bytes of calldata that are read: what the builders make is shorter, and lists may point to one part many times."""
SWEEP_COMMAND = 0x04
V4_SWAP_ALONE = bytes([uniswap_v4.V4_SWAP])
ADDRESS_BYTES = 20
DEPOSIT_OF_WORDS = Function(
    "deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
)
"""Across's ``depositV3`` with addresses as words; selector ad5425c6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedPayment:
    """What a call pays, by its contract's code.

    Parameters
    ----------
    contract : str
        What pays out or takes in: the router, or the bridge's own contract.
    token_address : str
        What the recipient gets, or what a bridge takes in.
    recipient : str
        Who gets it; of a deposit, on the other chain.
    amount : int or None
        Smallest units; None where only the bridge's event tells.
    is_deposit : bool
        Whether a bridge takes it in.
    is_unwrapped : bool
        Whether the contract unwraps the coin that it pays, so that an event tells how much.
    reference : bytes
        What stands behind the arguments; may be empty.
    """

    contract: str
    token_address: str
    recipient: str
    amount: int | None
    is_deposit: bool = False
    is_unwrapped: bool = False
    reference: bytes = b""


_Reader = Callable[[str, bytes], DecodedPayment | None]


def decode_payment(chain_id: int, contract: str, calldata: bytes) -> DecodedPayment | None:
    """Return what a call of a listed contract pays, or None if it is not one of those that are built here."""
    if len(calldata) > LONGEST:
        return None
    for reader in _readers(chain_id).get(contract, ()):
        found = reader(contract, calldata)
        if found is not None:
            return found
    return None


@cache
def _readers(chain_id: int) -> Mapping[str, tuple[_Reader, ...]]:
    return dict(_deployed(chain_id)) if chain_id in CHAINS else {}


def _deployed(chain_id: int) -> Iterator[tuple[str, tuple[_Reader, ...]]]:
    wrapped = CHAINS[chain_id].wrapped_native
    for protocol, read in (("uniswap_v2", _read_v2), ("uniswap_v3", partial(_read_v3, wrapped=wrapped))):
        for facts in deployments_of(protocol, chain_id):
            if "router" in facts.record:
                yield facts.address("router"), (read,)
    for facts in deployments_of("uniswap_v4", chain_id):
        yield facts.address("router"), (_read_universal,)
    for facts in deployments_of("across", chain_id):
        yield facts.address("spoke_pool"), (_read_across,)
        yield facts.address("periphery"), (partial(_read_across_swap, pool=facts.address("spoke_pool")),)
    for facts in deployments_of("cctp", chain_id):
        yield facts.address("token_messenger"), (_read_cctp,)
    for facts in deployments_of("stargate", chain_id):
        token = token_registry.token(facts.text("symbol"), chain_id).address
        yield facts.address("pool"), (partial(_read_stargate, token=token),)


def _arguments(function: Function, calldata: bytes) -> tuple[tuple[Any, ...], bytes] | None:
    """Return a call's arguments and its reference; None if something else stands behind them."""
    found = function.read(calldata)
    return found if found is not None and len(found[1]) in (0, REFERENCE_BYTES) else None


def _read_v2(router: str, calldata: bytes) -> DecodedPayment | None:
    for function, arguments_before_path in (
        (uniswap_v2.TOKENS_FOR_TOKENS, 2),
        (uniswap_v2.COIN_FOR_TOKENS, 1),
        (uniswap_v2.TOKENS_FOR_COIN, 2),
    ):
        found = _arguments(function, calldata)
        if found is None:
            continue
        (amount, *_), reference = found
        path, recipient = found[0][arguments_before_path : arguments_before_path + 2]
        if len(path) <= 1:
            return None
        is_coin = function is uniswap_v2.TOKENS_FOR_COIN
        token = NATIVE_ADDRESS if is_coin else path[-1]
        return DecodedPayment(
            contract=router, token_address=token, recipient=recipient, amount=amount,
            is_unwrapped=is_coin, reference=reference,
        )  # fmt: skip
    return None


def _read_v3(router: str, calldata: bytes, wrapped: str) -> DecodedPayment | None:
    found = _arguments(uniswap_v3.MULTICALL, calldata)
    if found is None:
        return None
    (_, calls), reference = found
    if calls and calls[-1] == uniswap_v3.REFUND_COIN.selector:
        calls = calls[:-1]
    payment = _read_v3_calls(calls, wrapped)
    if payment is None:
        return None
    token, recipient, amount = payment
    return DecodedPayment(
        contract=router, token_address=token, recipient=recipient, amount=amount,
        is_unwrapped=token == NATIVE_ADDRESS, reference=reference,
    )  # fmt: skip


def _read_v3_calls(calls: tuple[bytes, ...], wrapped: str) -> tuple[str, str, int] | None:
    """Return token, recipient and amount of a swap, of a swap and unwrapping, or of wrapping or unwrapping alone."""
    if len(calls) == 1:
        swap = _read_v3_swap(calls[0])
        return None if swap is None or swap[1] == uniswap_v3.ROUTER_ITSELF else swap
    if len(calls) != 2:
        return None
    first, last = calls
    unwrap, sweep = uniswap_v3.UNWRAP.read(last), uniswap_v3.SWEEP.read(last)
    if unwrap is not None and not unwrap[1]:
        amount, recipient = unwrap[0]
        swap, pull = _read_v3_swap(first), uniswap_v3.PULL.read(first)
        is_swap = swap == (wrapped, uniswap_v3.ROUTER_ITSELF, amount)
        return (NATIVE_ADDRESS, recipient, amount) if is_swap or pull == ((wrapped, amount), b"") else None
    if sweep is not None and not sweep[1]:
        token, amount, recipient = sweep[0]
        is_wrapped = token == wrapped and uniswap_v3.WRAP_COIN.read(first) == ((amount,), b"")
        return (token, recipient, amount) if is_wrapped else None
    return None


def _read_v3_swap(call: bytes) -> tuple[str, str, int] | None:
    single, several = uniswap_v3.EXACT_OUTPUT_SINGLE.read(call), uniswap_v3.EXACT_OUTPUT.read(call)
    if single is not None and not single[1]:
        ((_, token, _, recipient, amount, *_),) = single[0]
        return token, recipient, amount
    if several is not None and not several[1]:
        ((path, recipient, amount, _),) = several[0]
        return ("0x" + path[:20].hex(), recipient, amount) if len(path) >= ADDRESS_BYTES else None
    return None


def _read_universal(router: str, calldata: bytes) -> DecodedPayment | None:
    found = _arguments(EXECUTE, calldata)
    if found is None:
        return None
    (numbers, orders, _), reference = found
    if len(numbers) != len(orders) or numbers not in (V4_SWAP_ALONE, V4_SWAP_ALONE + bytes([SWEEP_COMMAND])):
        return None
    try:
        actions, steps = decode(["bytes", "bytes[]"], orders[0])
        expected = bytes([uniswap_v4.SWAP_EXACT_OUT, uniswap_v4.SETTLE, uniswap_v4.TAKE])
        if actions != expected or len(steps) != len(expected):
            return None
        currency, recipient, amount = decode(["address", "address", "uint256"], steps[-1])
    except (DecodingError, OverflowError):
        return None
    if amount == uniswap_v4.ALL_THAT_IS_OWED:
        return None
    token = NATIVE_ADDRESS if currency == ZERO_ADDRESS else currency
    return DecodedPayment(contract=router, token_address=token, recipient=recipient, amount=amount, reference=reference)


def _read_across(pool: str, calldata: bytes) -> DecodedPayment | None:
    plain, words = _arguments(across.DEPOSIT, calldata), _arguments(DEPOSIT_OF_WORDS, calldata)
    if plain is not None:
        (_, recipient, token, _, amount, *_), reference = plain
    elif words is not None:
        (_, to, sold, _, amount, *_), reference = words
        recipient, token = _address(to), _address(sold)
    else:
        return None
    return DecodedPayment(
        contract=pool, token_address=token, recipient=recipient, amount=amount, is_deposit=True, reference=reference
    )


def _read_across_swap(_: str, calldata: bytes, pool: str) -> DecodedPayment | None:
    found = _arguments(across_swap.SWAP_AND_BRIDGE, calldata)
    if found is None:
        return None
    ((_, deposit, *_),), reference = found
    return DecodedPayment(
        contract=pool, token_address=deposit[0], recipient=_address(deposit[4]), amount=None, is_deposit=True,
        reference=reference,
    )  # fmt: skip


def _read_cctp(messenger: str, calldata: bytes) -> DecodedPayment | None:
    found = _arguments(cctp.BURN, calldata)
    if found is None:
        return None
    (amount, _, to, token, *_), reference = found
    return DecodedPayment(
        contract=messenger, token_address=token, recipient=_address(to), amount=amount, is_deposit=True,
        reference=reference,
    )  # fmt: skip


def _read_stargate(pool: str, calldata: bytes, token: str) -> DecodedPayment | None:
    found = _arguments(stargate.SEND, calldata)
    if found is None:
        return None
    ((_, to, *_), *_), reference = found
    return DecodedPayment(
        contract=pool, token_address=token, recipient=_address(to), amount=None, is_deposit=True, reference=reference
    )


def _address(word: bytes) -> str:
    return "0x" + word[-20:].hex()
