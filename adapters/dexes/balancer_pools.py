"""From what Balancer's vault and pools answer to markets: what the pools of each factory have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from adapters.chain.protocol import Pool
from routing_engine.amm.balancer.stable import Invariant
from routing_engine.markets import BalancerStablePool, WeightedPool

PROTOCOL = "balancer_v2"


@dataclass(frozen=True, slots=True)
class FactoryKind:
    """What distinguishes the pools of one factory.

    Parameters
    ----------
    rates : str
        How many fields `adapters.dexes.balancer_rates` finds: ``none``, ``price``, ``token`` or ``token_with_old``.
    invariant : Invariant or None
        Of stable pools: which version of the library they have.
    multiplies_powers : bool
        Of weighted pools: as in `WeightedPool`.
    """

    rates: str = "none"
    invariant: Invariant | None = None
    multiplies_powers: bool = False


KINDS = {
    "weighted_first": FactoryKind(),
    "weighted": FactoryKind(multiplies_powers=True),
    "stable_first": FactoryKind(invariant=Invariant.UP),
    "stable": FactoryKind(invariant=Invariant.DOWN),
    "meta_stable": FactoryKind("price", Invariant.UP),
    "phantom_stable": FactoryKind("token", Invariant.UP),
    "composable_stable": FactoryKind("token_with_old", Invariant.DOWN),
}

PoolMarket: TypeAlias = WeightedPool | BalancerStablePool


def find_kind(pool: Pool) -> FactoryKind:
    """Return a pool's kind, its second fact."""
    return KINDS[str(pool.facts[1])]


def make_weighted(
    pool: Pool, identifier: str, balances: tuple[int, ...], fee: int, weights: tuple[int, ...]
) -> WeightedPool:
    """Return the market of a weighted pool."""
    return WeightedPool(
        id=identifier,
        protocol=PROTOCOL,
        tokens=pool.tokens,
        balances=balances,
        weights=tuple(weights),
        fee_e18=fee,
        multiplies_powers=find_kind(pool).multiplies_powers,
    )


def make_stable(
    pool: Pool, identifier: str, balances: tuple[int, ...], fee: int, amp: int, scales: tuple[int, ...]
) -> BalancerStablePool:
    """Return the market of a stable pool."""
    return BalancerStablePool(
        id=identifier,
        protocol=PROTOCOL,
        tokens=pool.tokens,
        balances=balances,
        scales=scales,
        amp=amp,
        fee_e18=fee,
        invariant=find_kind(pool).invariant or Invariant.DOWN,
    )
