"""Contracts that a payment's money passes through: what they have is nobody's, so that it is the payer's that pays.

What a router spends within a call it has been given in it, and what a pool or a vault pays out is somebody's: it counts
as the payer's only where it was swapped for what the pool was given. So name only contracts whose code gives to nobody
what it was not given: exchanges, their routers and pools; never somebody's wallet. Of a factory's pools, only its own
code may make them: where anybody may enter a contract of theirs, anybody may enter a thief's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adapters.rpc.abi import Call, Event, Function
from routing_engine.model import ZERO_ADDRESS

_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)

Told: TypeAlias = str | Call
"""An address in lower case, or a call of a contract that answers with one: a router knows its factory."""

FACTORY, FACTORY_OF_PAIRS = Function("factory()", "address"), Function("factoryV2()", "address")
TOKENS = Function("token0()", "address"), Function("token1()", "address")
FEE = Function("fee()", "uint24")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInterface:
    """How pools say that they swapped, and how their factory says that it made them.

    Parameters
    ----------
    swap_topic : str
        First topic of the event that a pool writes in its call that swaps. What leaves it in that call is paid for by
        what it was given in it, or in the calls before since it swapped last.
    keys : tuple of Function
        What a pool says of itself, beside its ``factory()``: functions without arguments and with one result.
    lookup : Function
        The factory's, which takes the keys' results in this order and gives the pool.
    """

    swap_topic: str
    keys: tuple[Function, ...]
    lookup: Function


UNISWAP_V2 = PoolInterface(
    swap_topic=Event("Swap(address,uint256,uint256,uint256,uint256,address)").topic,
    keys=TOKENS,
    lookup=Function("getPair(address,address)", "address"),
)
"""Pairs of Uniswap v2 and its forks."""
UNISWAP_V3 = PoolInterface(
    swap_topic=Event("Swap(address,address,int256,int256,uint160,uint128,int24)").topic,
    keys=(*TOKENS, FEE),
    lookup=Function("getPool(address,address,uint24)", "address"),
)
"""Pools of Uniswap v3 and its forks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFactory:
    """A factory, of whose pools each counts once the factory itself says that it made it.

    Parameters
    ----------
    address : str or Call
        The factory.
    interface : PoolInterface
        That of its pools, and its own.
    """

    address: Told
    interface: PoolInterface

    def __post_init__(self) -> None:
        _check(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultCall:
    """A call of a vault: whose, of how much coin, and what it says."""

    sender: str
    value: int
    calldata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedVault:
    """A contract that holds what all pools of an exchange have, and what others have left with it.

    Parameters
    ----------
    address : str
        The contract, in lower case.
    sessions : frozenset of bytes
        Selectors of its calls at whose end everybody has paid for what he took.
    is_trade : callable
        Says of a session's call and the calls of the vault within it, in their order, whether all that is taken is
        paid for by what was sent within the session: not by a position's money or by claims that somebody held.
    """

    address: str
    sessions: frozenset[bytes]
    is_trade: Callable[[Sequence[VaultCall]], bool]

    def __post_init__(self) -> None:
        _check(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intermediaries:
    """What payments pass through on one chain, beside the contracts that they call.

    Parameters
    ----------
    contracts : tuple of str or Call
        Contracts of their own that keep nothing: what takes the payer's tokens or hands them on.
    factories : tuple of PoolFactory
        Makers of the pools.
    vaults : tuple of SharedVault
        Managers that hold all pools.

    Raises
    ------
    ValueError
        If something is no address in lower case.
    """

    contracts: tuple[Told, ...] = ()
    factories: tuple[PoolFactory, ...] = ()
    vaults: tuple[SharedVault, ...] = ()

    def __post_init__(self) -> None:
        for each in self.contracts:
            _check(each)

    def __bool__(self) -> bool:
        return bool(self.contracts or self.factories or self.vaults)


def _check(told: Told) -> None:
    if isinstance(told, str) and (_ADDRESS.fullmatch(told) is None or told == ZERO_ADDRESS):
        raise ValueError(f"a contract that money passes through must be an address in lower case, not {told!r}")
