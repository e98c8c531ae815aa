"""Builders of markets from pools of the neutral format: one module per family, one line per type.

A builder takes (pool, id, tokens) and returns a market; it raises `Refused` with a reason that is counted, or
`InvalidMarket` for a damaged field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from routing_engine.formats.neutral_pools import (
    balancer,
    balancer_linear,
    bancor,
    concentrated,
    constant_product,
    curve,
    curve_crypto,
    ekubo,
    fluid,
    solidly,
    vault,
)
from routing_engine.model import Market, Token

Builder = Callable[[Mapping[str, Any], str, list[Token]], Market]

BUILDERS: dict[str, Builder] = {
    "cpmm": constant_product.build,
    "uniswap": constant_product.build_kyber,
    "clmm": concentrated.build,
    "cpmm_bancor": bancor.build,
    "erc4626": vault.build,
    "ekubo": ekubo.build,
    "ekubov3": ekubo.build_kyber,
    "fluid_dex": fluid.build,
    "fluid-dex-t1": fluid.build_kyber,
    "weighted": balancer.build_weighted,
    "balancer-v1": balancer.build_kyber_v1,
    "balancer-v2-weighted": balancer.build_kyber_weighted,
    "stable": balancer.build_stable,
    "composable_stable": balancer.build_stable,
    "linear": balancer_linear.build,
    "element": balancer_linear.refuse_element,
    "balancer-v2-stable": balancer.build_kyber_stable,
    "balancer-v2-composable-stable": balancer.build_kyber_stable,
    "solidly": solidly.build,
    "solidly-v2": solidly.build_kyber,
    "velodrome-v2": solidly.build_kyber,
    "curve_stable": curve.build_read,
    "curve_meta": curve.build_read,
    "curve-base": curve.build_plain,
    "curve-stable-plain": curve.build_plain,
    "curve-plain-oracle": curve.build_plain,
    "curve-stable-ng": curve.build_ng,
    "curve-stable-meta-ng": curve.build_ng,
    "curve-compound": curve.build_lending,
    "curve-meta": curve.build_meta,
    "curve_crypto": curve_crypto.build_read,
    "curve-tricrypto-ng": curve_crypto.build_kyber,
    "curve-twocrypto-ng": curve_crypto.build_kyber,
}
"""From a pool's ``type`` to what builds its market."""
