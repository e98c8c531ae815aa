"""Stargate v2's pool and fee library as their authors compiled them, with LayerZero stood in for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.markets import StargateLane
from tests.support.evm import ACTOR, Contract, Evm
from tests.support.npm import STARGATE, artifact
from tests.support.strategies import make_token
from tests.support.uniswap import token

EID = 30_111
RECEIVER = bytes(12) + bytes.fromhex(ACTOR[2:])
WORD_ONE = "6001600052602060 00f3".replace(" ", "")
"""Returns 1 to any call: an endpoint whose id is 1."""
ZEROS = "6104006000f3"
"""Returns zeros to any call: a messenger whose receipts say nothing."""


def _compiled(path: str) -> dict[str, Any]:
    return artifact(STARGATE, f"artifacts/src/{path}")


def _stand_in(evm: Evm, runtime: str) -> Contract:
    """Deploy a contract that answers every call in the same way."""
    size = len(runtime) // 2
    return evm.deploy({"abi": [], "bytecode": f"60{size:02x}600c60003960{size:02x}6000f3{runtime}"})


@dataclass(frozen=True)
class StargatePool:
    """One pool with its fee library and a path to one other chain."""

    contract: Contract
    fee_library: Contract
    decimals: int

    @classmethod
    def deploy(cls, evm: Evm, decimals: int) -> StargatePool:
        asset, endpoint, messenger = token(evm), _stand_in(evm, WORD_ONE), _stand_in(evm, ZEROS)
        pool = evm.deploy(
            _compiled("StargatePool.sol/StargatePool.json"),
            "LP", "LP", asset.address, decimals, 6, endpoint.address, ACTOR,
        )  # fmt: skip
        library = evm.deploy(_compiled("feelibs/FeeLibV1.sol/FeeLibV1.json"), pool.address)
        pool("setAddressConfig", (library.address, ACTOR, ACTOR, messenger.address, ACTOR, asset.address))
        asset("approve", pool.address, 2**256 - 1)
        return cls(pool, library, decimals)

    @property
    def unit(self) -> int:
        """Smallest units of the token in a shared unit."""
        return 10 ** (self.decimals - 6)

    def configure(self, terms: FeeTerms) -> None:
        """Set the fees of the path."""
        self.fee_library("setFeeConfig", EID, *terms)

    def fund(self, *, pooled: int, offset: int, treasury: int, credit: int) -> None:
        """Deposit liquidity, want `offset` more, and give treasury and path their amounts, all in shared units."""
        self.contract("deposit", ACTOR, pooled * self.unit)
        self.contract("setDeficitOffset", offset * self.unit)
        if treasury:
            self.contract("addTreasuryFee", treasury * self.unit)
        self.contract("receiveCredits", 7, [(EID, credit)])

    def read(self) -> StargateLane:
        """Return the engine's lane in the contracts' present state."""
        paused, *terms = self.fee_library("feeConfigs", EID)
        assert not paused
        held, wanted = self.contract("poolBalance"), self.contract("tvl") + self.contract("deficitOffset")
        return StargateLane(
            id="stargate",
            token_in=make_token(5, self.decimals),
            token_out=make_token(6, 6, chain_id=10),
            terms=FeeTerms(*terms),
            deficit=max(0, wanted - held) // self.unit,
            treasury=self.contract("treasuryFee"),
            credit=self.contract("paths", EID),
            fill_time_s=60,
        )

    def quote(self, amount: int) -> tuple[int, int]:
        """Return what ``quoteOFT`` says would be taken, and what would arrive, both in the token's units."""
        return self.contract("quoteOFT", self._order(amount))[2]

    def send(self, amount: int) -> int:
        """Send for real; return what would arrive, in the token's units."""
        return self.contract("send", self._order(amount), (0, 0), ACTOR)[1][1]

    def _order(self, amount: int) -> tuple[Any, ...]:
        return (EID, RECEIVER, amount, 0, b"", b"", b"")
