"""Contracts that a payment's money passes through: what they have is nobody's, so that it is the payer's that pays.

An address that is named here loses nothing in the eyes of whoever credits payments. So name only contracts whose code
gives to nobody what it was not given: exchanges, their routers and pools; never somebody's wallet. Of a factory's
pools, only its own code may make them: where anybody may enter a contract of theirs, anybody may enter a thief's.
"""

from __future__ import annotations

import re
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
        First topic of the event that a pool writes when it swaps.
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
class Intermediaries:
    """What payments pass through on one chain, beside the contracts that they call.

    Parameters
    ----------
    contracts : tuple of str or Call
        Contracts of their own: a manager or vault that holds all pools, and what it lets take the payer's tokens.
    factories : tuple of PoolFactory
        Makers of the pools.

    Raises
    ------
    ValueError
        If something is no address in lower case.
    """

    contracts: tuple[Told, ...] = ()
    factories: tuple[PoolFactory, ...] = ()

    def __post_init__(self) -> None:
        for each in self.contracts:
            _check(each)

    def __bool__(self) -> bool:
        return bool(self.contracts or self.factories)


def _check(told: Told) -> None:
    if isinstance(told, str) and (_ADDRESS.fullmatch(told) is None or told == ZERO_ADDRESS):
        raise ValueError(f"a contract that money passes through must be an address in lower case, not {told!r}")
