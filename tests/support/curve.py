"""Curve's pools in a local EVM: a twocrypto pool of before NG, tricrypto NG's mathematics, and a StableSwap NG pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eth_utils import to_checksum_address

from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method
from routing_engine.amm.stableswap import Product
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.stableswap.pool import StableSwapPool
from tests.support.curve_source import compile_curve
from tests.support.evm import ACTOR, Contract, Evm
from tests.support.strategies import make_token
from tests.support.vyper_source import compiled

PLENTY = 2**200
PLACES = tuple(f"0x{number:040}" for number in (1, 10, 11))
"""Addresses in the source that the deployer replaces: of the token of shares, and of both coins."""


def deploy_tokens(evm: Evm, decimals: Sequence[int]) -> tuple[Contract, ...]:
    """Return tokens of which the actor has plenty."""
    tokens = tuple(evm.deploy(compiled("settable_token"), each) for each in decimals)
    for token in tokens:
        token("set_balance", ACTOR, PLENTY)
    return tokens


def deploy_three_coin_mathematics(evm: Evm) -> Contract:
    """Return tricrypto NG's mathematics: ``get_y`` and ``newton_D``."""
    return evm.deploy(compile_curve("CurveCryptoMathOptimized3"))


@dataclass(frozen=True)
class TwoCoins:
    """One twocrypto pool of before NG."""

    contract: Contract
    tokens: tuple[Contract, ...]
    decimals: tuple[int, int]
    rules: CryptoRules

    @classmethod
    def deploy(
        cls, evm: Evm, decimals: tuple[int, int], rules: CryptoRules, price: int, balances: tuple[int, int]
    ) -> TwoCoins:
        """Deploy a pool and deposit its first balances."""
        tokens, shares = deploy_tokens(evm, decimals), evm.deploy(compiled("settable_token"), 18)
        code = compile_curve(
            "CurveCryptoSwap2",
            *zip(PLACES, (to_checksum_address(each.address) for each in (shares, *tokens)), strict=True),
            ("    1,#0", f"    10**{18 - decimals[0]},"),
            ("    1,#1", f"    10**{18 - decimals[1]},"),
        )
        fees = (rules.mid_fee, rules.out_fee, 2 * 10**12, rules.fee_gamma, 146 * 10**12, 5 * 10**9, 600, price)
        contract = evm.deploy(code, ACTOR, ACTOR, rules.ann, rules.gamma, *fees)
        contract("add_liquidity", balances, 0)
        return cls(contract, tokens, decimals, rules)

    def read(self) -> CryptoSwapPool:
        """Return the engine's pool in the contract's present state."""
        return CryptoSwapPool(
            id="1:0xtwocrypto",
            protocol="curve",
            tokens=tuple(make_token(1 + place, each) for place, each in enumerate(self.decimals)),
            balances=tuple(self.contract("balances", place) for place in range(2)),
            price_scale=(self.contract("price_scale"),),
            d=self.contract("D"),
            ann=self.rules.ann,
            gamma=self.rules.gamma,
            mid_fee=self.rules.mid_fee,
            out_fee=self.rules.out_fee,
            fee_gamma=self.rules.fee_gamma,
            method=Method.NEWTON,
        )

    def swap(self, sold: int, amount_in: int) -> int:
        """Exchange, and return what the actor received."""
        before = self.tokens[1 - sold]("balanceOf", ACTOR)
        self.contract("exchange", sold, 1 - sold, amount_in, 0)
        return self.tokens[1 - sold]("balanceOf", ACTOR) - before


@dataclass(frozen=True)
class StablePool:
    """One StableSwap NG pool, of the commit that rounds D coin by coin."""

    contract: Contract
    tokens: tuple[Contract, ...]
    decimals: tuple[int, ...]

    @classmethod
    def deploy(
        cls, evm: Evm, decimals: Sequence[int], amp: int, fee: int, multiplier: int, balances: Sequence[int]
    ) -> StablePool:
        """Deploy a pool and deposit its first balances."""
        tokens, count = deploy_tokens(evm, decimals), len(decimals)
        rates = [10 ** (36 - each) for each in decimals]
        plain = ([0] * count, [bytes(4)] * count, [f"0x{0:040}"] * count)
        addresses = [token.address for token in tokens]
        code = compile_curve("CurveStableSwapNG")
        contract = evm.deploy(code, "Pool", "LP", amp, fee, multiplier, 866, addresses, rates, *plain)
        contract("add_liquidity", balances, 0, ACTOR)
        return cls(contract, tokens, tuple(decimals))

    def read(self) -> StableSwapPool:
        """Return the engine's pool in the contract's present state."""
        return StableSwapPool(
            id="1:0xstableng",
            protocol="curve",
            tokens=tuple(make_token(1 + place, each) for place, each in enumerate(self.decimals)),
            balances=tuple(self.contract("get_balances")),
            rates=tuple(10 ** (36 - each) for each in self.decimals),
            amp=self.contract("A_precise"),
            fee_e10=self.contract("fee"),
            admin_fee_e10=5 * 10**9,
            multiplier_e10=self.contract("offpeg_fee_multiplier"),
            product=Product.EACH,
            oracle=True,
        )

    def swap(self, i: int, j: int, amount_in: int) -> int:
        """Exchange, and return what the actor received."""
        before = self.tokens[j]("balanceOf", ACTOR)
        self.contract("exchange", i, j, amount_in, 0, ACTOR)
        return self.tokens[j]("balanceOf", ACTOR) - before
