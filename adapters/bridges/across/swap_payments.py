"""A swap and a deposit into Across in one call: ``swapAndBridge`` of the periphery (across-protocol/contracts)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from adapters.bridges.across.payments import delivers_its_output, get_relayer, get_spoke_pool
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_address, read_arguments
from adapters.transactions.intermediaries import Intermediaries
from adapters.transactions.paths import SwapPath, find_path, wrap_token
from adapters.transactions.universal_router import (
    CALLER,
    Command,
    execute,
    swap_v2_exact_out,
    swap_v3_exact_out,
    sweep,
    unwrap,
)
from routing_engine.model import ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS

FEES = "(uint256,address)"
DEPOSIT = "(address,bytes32,uint256,address,bytes32,uint256,bytes32,uint32,uint32,uint32,bytes)"
SWAP_AND_BRIDGE = Function(
    f"swapAndBridge(({FEES},{DEPOSIT},address,address,uint8,uint256,uint256,bytes,bool,address,uint256))"
)
"""``SwapAndDepositData``: fees and deposit, token and exchange, how it is paid, amount, least amount to deposit, the
exchange's calldata, whether a better swap raises the output, pool, nonce; selector 110560ad."""
SWAP_PROXY = Function("swapProxy()", "address")
"""Of the periphery."""
TRANSFER_FIRST = 1
"""The exchange is given the tokens before it is called."""

Swap = Callable[[str, int, int, SwapPath], Command]


class AcrossSwapPayments(PaymentBuilder):
    """Pays with a token that Across does not take: an exact swap into one that it does, then the deposit of just that.

    The exchange is Uniswap's Universal Router: it swaps no more than the deposit needs, and sends the rest back to the
    payer, while what is left in the periphery's hands would be anybody's.

    Parameters
    ----------
    protocol : str
        Over whose pools it swaps.
    swap : callable
        Makes that command.
    routers : mapping of int to str
        The router by chain.
    peripheries : mapping of int to str
        The periphery by chain.
    """

    crosses_chains = True

    def __init__(self, protocol: str, swap: Swap, routers: Mapping[int, str], peripheries: Mapping[int, str]) -> None:
        self._exchange = frozenset({protocol})
        self.protocols = self._exchange | {"across"}
        self._swap, self._routers, self._peripheries = swap, routers, peripheries

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are swaps into a token, and then a deposit of it."""
        return self._find_path(hops) is not None

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the call of the periphery; the deposit is as large as its hop says. See `PaymentBuilder.build`."""
        path = self._find_path(hops)
        if path is None:
            raise CannotBuild("the periphery takes swaps on one chain and then one deposit")
        chain_id, deposit = path.token_in.chain_id, hops[-1].hop
        periphery, router, pool = self._peripheries[chain_id], self._routers[chain_id], get_spoke_pool(chain_id, terms)
        token, is_coin = wrap_token(path.token_in).address, path.token_in.is_native
        change = unwrap(terms.payer) if is_coin else sweep(token, terms.payer)
        swap = self._swap(CALLER, deposit.amount_in, terms.amount_in_max, path)
        order = (
            (0, ZERO_ADDRESS),
            _make_deposit(hops[-1], terms),
            token,
            router,
            TRANSFER_FIRST,
            terms.amount_in_max,
            deposit.amount_in,
            execute(router, (swap, change), terms.deadline).data,
            False,
            pool,
            0,
        )
        spending = None if is_coin else Spending(token=path.token_in, spender=periphery, amount=terms.amount_in_max)
        return PaymentCall(
            chain_id=chain_id,
            to=periphery,
            data=SWAP_AND_BRIDGE(periphery, order).data,
            value=terms.amount_in_max if is_coin else 0,
            spending=spending,
            fill_deadline=cast("int", terms.firm["fillDeadline"]),
            relayer=get_relayer(terms),
        )

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads calls of the chain's periphery back."""
        (pool, *_) = (*(facts.get_address("spoke_pool") for facts in read_deployments("across", chain_id)), "")
        return {self._peripheries[chain_id]: partial(_read, pool=pool)} if chain_id in self._peripheries else {}

    def find_intermediaries(self, chain_id: int) -> Intermediaries:
        """Return what the periphery swaps through; see `PaymentBuilder.find_intermediaries`."""
        if chain_id not in self._peripheries:
            return Intermediaries()
        return Intermediaries(contracts=(SWAP_PROXY(self._peripheries[chain_id]),))

    def _find_path(self, hops: tuple[PlannedHop, ...]) -> SwapPath | None:
        if not hops or not delivers_its_output(hops[-1]):
            return None
        path = find_path(hops[:-1], self._exchange)
        if path is None or not path.swaps or path.token_in.chain_id not in self._routers:
            return None
        is_joined = path.token_out == hops[-1].hop.token_in
        has_fees = all(each.fee_pips for each in path.swaps)
        return path if is_joined and has_fees and path.token_in.chain_id in self._peripheries else None


def make_swap_builders() -> tuple[AcrossSwapPayments, ...]:
    """Return one for each of Uniswap's exchanges that the router knows."""
    routers = {
        chain_id: each.get_address("router") for chain_id in CHAINS for each in read_deployments("uniswap_v4", chain_id)
    }
    peripheries = {
        chain_id: each.get_address("periphery") for chain_id in CHAINS for each in read_deployments("across", chain_id)
    }
    swaps: tuple[tuple[str, Swap], ...] = (("uniswap_v3", swap_v3_exact_out), ("uniswap_v2", swap_v2_exact_out))
    return tuple(AcrossSwapPayments(protocol, swap, routers, peripheries) for protocol, swap in swaps)


def _make_deposit(planned: PlannedHop, terms: Terms) -> tuple[object, ...]:
    hop, firm = planned.hop, terms.firm
    return (
        hop.token_in.address,
        _pad_address(hop.token_out.address),
        terms.amount_out,
        terms.payer,
        _pad_address(terms.recipient),
        hop.token_out.chain_id,
        _pad_address(str(firm["exclusiveRelayer"])),
        firm["timestamp"],
        firm["fillDeadline"],
        firm["exclusivityDeadline"],
        b"",
    )


def _pad_address(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def _read(_: str, calldata: bytes, pool: str) -> DecodedPayment | None:
    found = read_arguments(SWAP_AND_BRIDGE, calldata)
    if found is None:
        return None
    ((_, deposit, *_),), reference = found
    return DecodedPayment(
        contract=pool, token_address=deposit[0], recipient=read_address(deposit[4]), amount=None, is_deposit=True,
        reference=reference,
    )  # fmt: skip
