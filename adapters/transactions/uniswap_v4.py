"""Swaps over Uniswap v4: ``V4_SWAP`` of the Universal Router, which takes tokens through Permit2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import SELECTOR_BYTES, Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PaymentCall, PlannedHop, Spending, Terms
from adapters.transactions.decoded import CallReader, DecodedPayment, read_arguments
from adapters.transactions.intermediaries import Intermediaries, SharedVault, VaultCall
from adapters.transactions.universal_router import EXECUTE, Command, execute, sweep
from routing_engine.markets.concentrated.pool_key import pool_id
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from routing_engine.reference.chains import CHAINS

PROTOCOL = "uniswap_v4"
V4_SWAP = 0x10
SWAP_EXACT_IN, SWAP_EXACT_OUT, SETTLE, TAKE = 0x07, 0x09, 0x0B, 0x0E
"""Actions of ``V4Router`` (Uniswap/v4-periphery): swap, pay what is owed, hand out what was bought."""
EXACT_OUTPUT = "(address,(address,uint24,int24,address,bytes)[],uint128,uint128)"
"""Token out, pools from the first token on, amount out, most in."""
EXACT_INPUT = EXACT_OUTPUT
"""Token in, pools from the first token on, each by the token that it gives, amount in, least out."""
ALL_THAT_IS_OWED = 0
SWEEP_COMMAND = 0x04
UNLOCK, SYNC, SETTLING = Function("unlock(bytes)"), Function("sync(address)"), Function("settle()")
"""The manager's: a session, what says that a token is about to be paid, and what counts how much of it came."""
_OF_TRADES = frozenset(
    each.selector
    for each in (
        Function("swap((address,address,uint24,int24,address),(bool,int256,uint160),bytes)"),
        Function("take(address,address,uint256)"),
        SYNC,
        SETTLING,
    )
)
"""What a session of nothing but swaps is made of."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """The router of a chain, its Permit2, and the manager that holds all pools."""

    router: str
    permit2: str
    manager: str


class UniswapV4Payments(PaymentBuilder):
    """Pays over the manager's pools without hooks, which hold the chain's coin as it is.

    Parameters
    ----------
    deployments : mapping of int to Deployment
        By chain.
    """

    protocols = frozenset({PROTOCOL})
    crosses_chains = False

    def __init__(self, deployments: Mapping[int, Deployment]) -> None:
        self._deployments = deployments

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether the hops are swaps in series over such pools."""
        if not hops or hops[0].hop.token_in.chain_id not in self._deployments:
            return False
        is_joined = all(before.hop.token_out == after.hop.token_in for before, after in pairwise(hops))
        return is_joined and all(map(_has_no_hooks, hops))

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return the call of the router; see `PaymentBuilder.build`."""
        if not self.can_build(hops):
            raise CannotBuild("the router takes no such hops")
        first, chain_id = hops[0].hop.token_in, hops[0].hop.token_in.chain_id
        here = self._deployments[chain_id]
        commands = (_make_swap(hops, terms), *((sweep(ZERO_ADDRESS, terms.payer),) if first.is_native else ()))
        spending = Spending(
            token=first, spender=here.permit2, amount=terms.amount_in_max, user=here.router, until=terms.deadline
        )
        return PaymentCall(
            chain_id=chain_id,
            to=here.router,
            data=execute(here.router, commands, terms.deadline).data,
            value=terms.amount_in_max if first.is_native else 0,
            spending=None if first.is_native else spending,
        )

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads calls of the chain's router back."""
        return {self._deployments[chain_id].router: _read} if chain_id in self._deployments else {}

    def find_intermediaries(self, chain_id: int) -> Intermediaries:
        """Return the manager and Permit2; see `PaymentBuilder.find_intermediaries`."""
        here = self._deployments.get(chain_id)
        if here is None:
            return Intermediaries()
        vault = SharedVault(address=here.manager, sessions=frozenset({UNLOCK.selector}), is_trade=_is_trade)
        return Intermediaries(contracts=(here.permit2,), vaults=(vault,))


def make_builders() -> tuple[UniswapV4Payments, ...]:
    """Return the one for the manager's pools."""
    found = {
        chain_id: Deployment(*(facts.get_address(name) for name in ("router", "permit2", "manager")))
        for chain_id in CHAINS
        for facts in read_deployments(PROTOCOL, chain_id)
    }
    return (UniswapV4Payments(found),)


def _make_swap(hops: tuple[PlannedHop, ...], terms: Terms) -> Command:
    sold, bought = (_find_currency(token) for token in (hops[0].hop.token_in, hops[-1].hop.token_out))
    taken = ALL_THAT_IS_OWED if terms.spends_all else terms.amount_out
    steps = {
        **(_swap_all(hops, terms) if terms.spends_all else _swap_for_output(hops, terms)),
        SETTLE: encode(["address", "uint256", "bool"], [sold, ALL_THAT_IS_OWED, True]),
        TAKE: encode(["address", "address", "uint256"], [bought, terms.recipient, taken]),
    }
    return Command(V4_SWAP, encode(["bytes", "bytes[]"], [bytes(steps), list(steps.values())]))


def _swap_for_output(hops: tuple[PlannedHop, ...], terms: Terms) -> dict[int, bytes]:
    bought = _find_currency(hops[-1].hop.token_out)
    path = [(_find_currency(each.hop.token_in), each.fee_pips, each.tick_spacing, ZERO_ADDRESS, b"") for each in hops]
    return {SWAP_EXACT_OUT: encode([EXACT_OUTPUT], [(bought, path, terms.amount_out, terms.amount_in_max)])}


def _swap_all(hops: tuple[PlannedHop, ...], terms: Terms) -> dict[int, bytes]:
    sold = _find_currency(hops[0].hop.token_in)
    path = [(_find_currency(each.hop.token_out), each.fee_pips, each.tick_spacing, ZERO_ADDRESS, b"") for each in hops]
    return {SWAP_EXACT_IN: encode([EXACT_INPUT], [(sold, path, terms.amount_in_max, terms.amount_out)])}


def _is_trade(calls: Sequence[VaultCall]) -> bool:
    """Whether only who unlocked the manager swapped, took and paid, and what he paid with came after he said so.

    Fees and positions, claims, and what hooks take for themselves, would be others' money.
    """
    unlocking, *inner = calls
    is_synced = False
    for call in inner:
        selector = call.calldata[:SELECTOR_BYTES]
        if call.sender != unlocking.sender or selector not in _OF_TRADES:
            return False
        if selector == SETTLING.selector and not (call.value or is_synced):
            return False
        is_synced = selector == SYNC.selector or (is_synced and selector != SETTLING.selector)
    return True


def _find_currency(token: Token) -> str:
    return ZERO_ADDRESS if token.is_native else token.address


def _has_no_hooks(planned: PlannedHop) -> bool:
    """Whether a hop is over the pool that its tokens, fee and spacing name alone: one with hooks has another id."""
    hop = planned.hop
    if hop.protocol != PROTOCOL or not planned.tick_spacing:
        return False
    ends = sorted((hop.token_in, hop.token_out), key=lambda token: int(_find_currency(token), 16))
    return hop.market_id == f"{hop.token_in.chain_id}:{pool_id(ends, planned.fee_pips, planned.tick_spacing)}"


def _read(router: str, calldata: bytes) -> DecodedPayment | None:
    found = read_arguments(EXECUTE, calldata)
    if found is None:
        return None
    (numbers, orders, _), reference = found
    if len(numbers) != len(orders) or numbers not in (bytes([V4_SWAP]), bytes([V4_SWAP, SWEEP_COMMAND])):
        return None
    try:
        actions, steps = decode(["bytes", "bytes[]"], orders[0])
        expected = bytes([SWAP_EXACT_OUT, SETTLE, TAKE])
        if actions != expected or len(steps) != len(expected):
            return None
        currency, recipient, amount = decode(["address", "address", "uint256"], steps[-1])
    except (DecodingError, OverflowError):
        return None
    if amount == ALL_THAT_IS_OWED:
        return None
    token = NATIVE_ADDRESS if currency == ZERO_ADDRESS else currency
    return DecodedPayment(contract=router, token_address=token, recipient=recipient, amount=amount, reference=reference)
