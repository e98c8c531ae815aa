"""Swaps over Uniswap v3, and wrapping: functions of ``SwapRouter02`` (Uniswap/swap-router-contracts)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from adapters.rpc.abi import Function
from adapters.transactions.base import PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import ADDRESS_BYTES, CallReader, DecodedPayment, read_arguments
from adapters.transactions.intermediaries import FACTORY, FACTORY_OF_PAIRS, UNISWAP_V2, UNISWAP_V3
from adapters.transactions.paths import SwapPath, wrap_token
from adapters.transactions.routers import RouterPayments, find_exchanges
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference.chains import CHAINS

MULTICALL = Function("multicall(uint256,bytes[])")
"""Deadline and calls; selector 5ae401dc."""
EXACT_OUTPUT_SINGLE = Function("exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))")
"""Token in, token out, fee, recipient, amount out, most in, price limit (0: none); selector 5023b4df."""
EXACT_OUTPUT = Function("exactOutput((bytes,address,uint256,uint256))")
"""Path from the last token to the first, recipient, amount out, most in; selector 09b81346."""
EXACT_INPUT_SINGLE = Function("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))")
"""Token in, token out, fee, recipient, amount in, least out, price limit (0: none); selector 04e45aaf."""
EXACT_INPUT = Function("exactInput((bytes,address,uint256,uint256))")
"""Path from the first token to the last, recipient, amount in, least out; selector b858183f."""
WRAP_COIN = Function("wrapETH(uint256)")
"""Selector 1c58db4f."""
UNWRAP = Function("unwrapWETH9(uint256,address)")
"""At least so much, to whom; selector 49404b7c."""
SWEEP = Function("sweepToken(address,uint256,address)")
"""Token, at least so much, to whom; selector df2ab5bb."""
PULL = Function("pull(address,uint256)")
"""Takes a token from the caller; selector f2d5d56b."""
REFUND_COIN = Function("refundETH()")
"""Sends what is left of the value back to the caller; selector 12210e8a."""
ROUTER_ITSELF = "0x0000000000000000000000000000000000000002"
"""Stands for the router as a recipient, so that it can unwrap what it received."""


class UniswapV3Payments(RouterPayments):
    """Pays over the pools of one factory, and between a chain's coin and its wrapped form; see `RouterPayments`."""

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are swaps over these pools on one chain, or nothing but wrapping."""
        path = self.find_swaps(hops)
        if path is None:
            return False
        return path.token_in != path.token_out and all(each.fee_pips for each in path.swaps)

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the call of the router; see `PaymentBuilder.build`."""
        path, router = self.expect_swaps(hops)
        is_coin = path.token_in.is_native
        calls = tuple(_encode_swap(path, router, terms) if path.swaps else _encode_wrapping(path, router, terms))
        spending = None if is_coin else Spending(token=path.token_in, spender=router, amount=terms.amount_in_max)
        return PaymentCall(
            chain_id=path.token_in.chain_id,
            to=router,
            data=MULTICALL(router, terms.deadline, calls).data,
            value=terms.amount_in_max if is_coin else 0,
            spending=spending,
        )

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads calls of the chain's router back."""
        if chain_id not in self._routers:
            return {}
        return {self._routers[chain_id]: partial(_read, coin=CHAINS[chain_id].wrapped_native)}


def encode_path(path: SwapPath, *, is_forward: bool = False) -> bytes:
    """Return tokens of 20 bytes from the last to the first, and the fees of the pools between them in 3 bytes each.

    Forward it is the other way round, as contracts take it that are given the input.
    """
    tokens = [bytes.fromhex(address[2:]) for address in path.tokens]
    fees = [each.fee_pips.to_bytes(3, "big") for each in path.swaps]
    if not is_forward:
        tokens.reverse()
        fees.reverse()
    return b"".join(token + fee for token, fee in zip(tokens, fees, strict=False)) + tokens[-1]


def _encode_swap(path: SwapPath, router: str, terms: Terms) -> Iterator[bytes]:
    recipient = ROUTER_ITSELF if path.token_out.is_native else terms.recipient
    amounts = (terms.amount_out, terms.amount_in_max)
    if terms.spends_all:
        amounts = (terms.amount_in_max, terms.amount_out)
    if len(path.swaps) == 1:
        (only,) = path.swaps
        function = EXACT_INPUT_SINGLE if terms.spends_all else EXACT_OUTPUT_SINGLE
        yield function(router, (*path.tokens, only.fee_pips, recipient, *amounts, 0)).data
    else:
        function = EXACT_INPUT if terms.spends_all else EXACT_OUTPUT
        yield function(router, (encode_path(path, is_forward=terms.spends_all), recipient, *amounts)).data
    if path.token_out.is_native:
        yield UNWRAP(router, terms.amount_out, terms.recipient).data
    if path.token_in.is_native:
        yield REFUND_COIN(router).data


def _encode_wrapping(path: SwapPath, router: str, terms: Terms) -> Iterator[bytes]:
    """Wrap or unwrap in the router's hands, so that the result goes straight to the recipient."""
    amount = terms.amount_in_max if terms.spends_all else terms.amount_out
    if path.token_in.is_native:
        yield WRAP_COIN(router, amount).data
        yield SWEEP(router, wrap_token(path.token_in).address, terms.amount_out, terms.recipient).data
        yield REFUND_COIN(router).data
    else:
        yield PULL(router, path.token_in.address, amount).data
        yield UNWRAP(router, terms.amount_out, terms.recipient).data


def make_builders() -> tuple[UniswapV3Payments, ...]:
    """Return one for each factory."""
    found = find_exchanges("uniswap_v3", UNISWAP_V3, {FACTORY: UNISWAP_V3, FACTORY_OF_PAIRS: UNISWAP_V2})
    return tuple(UniswapV3Payments(each.name, each.routers, each.factories) for each in found)


def _read(router: str, calldata: bytes, coin: str) -> DecodedPayment | None:
    found = read_arguments(MULTICALL, calldata)
    if found is None:
        return None
    (_, calls), reference = found
    if calls and calls[-1] == REFUND_COIN.selector:
        calls = calls[:-1]
    payment = _read_calls(calls, coin)
    if payment is None:
        return None
    token, recipient, amount = payment
    return DecodedPayment(
        contract=router, token_address=token, recipient=recipient, amount=amount,
        is_unwrapped=token == NATIVE_ADDRESS, reference=reference,
    )  # fmt: skip


def _read_calls(calls: tuple[bytes, ...], coin: str) -> tuple[str, str, int] | None:
    """Return token, recipient and amount of a swap, of a swap and unwrapping, or of wrapping or unwrapping alone."""
    if len(calls) == 1:
        swap = _read_swap(calls[0])
        return None if swap is None or swap[1] == ROUTER_ITSELF else swap
    if len(calls) != 2:
        return None
    first, last = calls
    unwrap, sweep = UNWRAP.read(last), SWEEP.read(last)
    if unwrap is not None and not unwrap[1]:
        amount, recipient = unwrap[0]
        swap, pull = _read_swap(first), PULL.read(first)
        is_swap = swap == (coin, ROUTER_ITSELF, amount)
        return (NATIVE_ADDRESS, recipient, amount) if is_swap or pull == ((coin, amount), b"") else None
    if sweep is not None and not sweep[1]:
        token, amount, recipient = sweep[0]
        is_wrapped = token == coin and WRAP_COIN.read(first) == ((amount,), b"")
        return (token, recipient, amount) if is_wrapped else None
    return None


def _read_swap(call: bytes) -> tuple[str, str, int] | None:
    single, several = EXACT_OUTPUT_SINGLE.read(call), EXACT_OUTPUT.read(call)
    if single is not None and not single[1]:
        ((_, token, _, recipient, amount, *_),) = single[0]
        return token, recipient, amount
    if several is not None and not several[1]:
        ((path, recipient, amount, _),) = several[0]
        return ("0x" + path[:20].hex(), recipient, amount) if len(path) >= ADDRESS_BYTES else None
    return None
