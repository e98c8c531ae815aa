"""Swaps over Uniswap v2 and its forks: functions of ``UniswapV2Router02`` (Uniswap/v2-periphery)."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.rpc.abi import Function
from adapters.transactions.base import PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_arguments
from adapters.transactions.intermediaries import FACTORY, UNISWAP_V2
from adapters.transactions.paths import SwapPath
from adapters.transactions.routers import RouterPayments, find_exchanges
from routing_engine.model import NATIVE_ADDRESS

TOKENS_FOR_TOKENS = Function("swapTokensForExactTokens(uint256,uint256,address[],address,uint256)")
"""Amount out, most in, path, recipient, deadline; selector 8803dbee."""
COIN_FOR_TOKENS = Function("swapETHForExactTokens(uint256,address[],address,uint256)")
"""Amount out, path, recipient, deadline; sends back what it does not need of the value. Selector fb3bdb41."""
TOKENS_FOR_COIN = Function("swapTokensForExactETH(uint256,uint256,address[],address,uint256)")
"""As the first, and unwraps. Selector 4a25d94a."""
ALL_TOKENS_FOR_TOKENS = Function("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)")
"""Amount in, least out, path, recipient, deadline; selector 38ed1739."""
ALL_COIN_FOR_TOKENS = Function("swapExactETHForTokens(uint256,address[],address,uint256)")
"""Least out, path, recipient, deadline; selector 7ff36ab5."""
ALL_TOKENS_FOR_COIN = Function("swapExactTokensForETH(uint256,uint256,address[],address,uint256)")
"""As the one from token to token, and unwraps. Selector 18cbafe5."""


class UniswapV2Payments(RouterPayments):
    """Pays over the pairs of one factory; see `RouterPayments`."""

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are swaps over these pairs on one chain."""
        path = self.find_swaps(hops)
        if path is None or not path.swaps:
            return False
        return not (path.token_in.is_native and path.token_out.is_native)

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the call of the router; see `PaymentBuilder.build`."""
        path, router = self.expect_swaps(hops)
        data, value = _encode_call(path, router, terms)
        spending = None if value else Spending(token=path.token_in, spender=router, amount=terms.amount_in_max)
        return PaymentCall(chain_id=path.token_in.chain_id, to=router, data=data, value=value, spending=spending)

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads calls of the chain's router back."""
        return {self._routers[chain_id]: _read} if chain_id in self._routers else {}


def _encode_call(path: SwapPath, router: str, terms: Terms) -> tuple[bytes, int]:
    """Return calldata and value."""
    out, most, end = terms.amount_out, terms.amount_in_max, (path.tokens, terms.recipient, terms.deadline)
    if path.token_in.is_native:
        function = ALL_COIN_FOR_TOKENS if terms.spends_all else COIN_FOR_TOKENS
        return function(router, out, *end).data, most
    if terms.spends_all:
        function = ALL_TOKENS_FOR_COIN if path.token_out.is_native else ALL_TOKENS_FOR_TOKENS
        return function(router, most, out, *end).data, 0
    function = TOKENS_FOR_COIN if path.token_out.is_native else TOKENS_FOR_TOKENS
    return function(router, out, most, *end).data, 0


def make_builders() -> tuple[UniswapV2Payments, ...]:
    """Return one for each factory."""
    found = find_exchanges("uniswap_v2", UNISWAP_V2, {FACTORY: UNISWAP_V2})
    return tuple(UniswapV2Payments(each.name, each.routers, each.factories) for each in found)


def _read(router: str, calldata: bytes) -> DecodedPayment | None:
    for function, arguments_before_path in (
        (TOKENS_FOR_TOKENS, 2),
        (COIN_FOR_TOKENS, 1),
        (TOKENS_FOR_COIN, 2),
    ):
        found = read_arguments(function, calldata)
        if found is None:
            continue
        (amount, *_), reference = found
        path, recipient = found[0][arguments_before_path : arguments_before_path + 2]
        if len(path) <= 1:
            return None
        is_coin = function is TOKENS_FOR_COIN
        token = NATIVE_ADDRESS if is_coin else path[-1]
        return DecodedPayment(
            contract=router, token_address=token, recipient=recipient, amount=amount,
            is_unwrapped=is_coin, reference=reference,
        )  # fmt: skip
    return None
