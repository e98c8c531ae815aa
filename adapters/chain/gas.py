"""Gas prices: base fee and tip of recent blocks, and what rollups charge for their data on Ethereum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.base import BadPayload, Source, Venues
from adapters.chain.adapter import parse_endpoints
from adapters.rpc.abi import Call, Function, Outcome, read_hex, read_quantity
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.formats import Contents
from routing_engine.reference.chain import GasModel
from routing_engine.reference.chains import CHAINS, block_time_s

GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000f"
"""Predeployed on OP-stack chains."""
L1_FEE_UPPER_BOUND = Function("getL1FeeUpperBound(uint256)", "uint256")

ARB_GAS_INFO = "0x000000000000000000000000000000000000006c"
"""Precompiled on Arbitrum."""
PRICES_IN_WEI = Function("getPricesInWei()", "uint256", "uint256")
"""Of a plain transaction, and of one byte of L1 calldata."""

TYPICAL_GAS = 200_000
TYPICAL_BYTES = 400
"""A swap over two pools: its gas, and its bytes before compression."""

BLOCKS = 10
PERCENTILE = 50
MOST_WEI = 10**15
MOST_L1_FEE = 10**18
FASTEST_S = 6.0
MAX_AGE_S = 180.0

DATA_FEES: Mapping[GasModel, Call] = {
    GasModel.OP_STACK: L1_FEE_UPPER_BOUND(GAS_PRICE_ORACLE, TYPICAL_BYTES),
    GasModel.ARBITRUM: PRICES_IN_WEI(ARB_GAS_INFO),
}
"""What to ask on chains that charge for data."""


@dataclass(frozen=True, slots=True)
class GasPayload:
    """Raw answers: ``eth_feeHistory``, and the data of the call about L1 fees, where a chain has any."""

    history: Any
    data_fee: Any = None


class GasAdapter:
    """The gas price of one chain, in wei per unit of gas.

    It is the next block's base fee, and the median tip of recent blocks. Where a chain charges for data on Ethereum by
    the transaction, that fee, for a typical transaction, is spread over its gas: an estimate, as gas itself is.

    Parameters
    ----------
    rpc : RpcPool
        The chain.
    """

    def __init__(self, rpc: RpcPool) -> None:
        self.name = f"gas@{rpc.chain_id}"
        self._rpc = rpc

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return each chain whose endpoints are given, as `OnChainAdapter.connect` does."""
        return tuple(
            Source(
                adapter=cls(RpcPool(chain_id, urls)),
                interval_s=max(FASTEST_S, block_time_s(chain_id)),
                max_age_s=MAX_AGE_S,
            )
            for chain_id, urls in parse_endpoints(venues.options).items()
        )

    def fetch(self) -> GasPayload:
        """Ask for recent fees; see `Adapter`."""
        self._rpc.read_head()
        return self.read("latest")

    def read(self, block: int | str) -> GasPayload:
        """Ask for the fees up to a block, by its number or its tag."""
        at = hex(block) if isinstance(block, int) else block
        questions: list[Question] = [("eth_feeHistory", [hex(BLOCKS), at, [PERCENTILE]])]
        call = self._make_data_call()
        if call is not None:
            questions.append(("eth_call", [{"to": call.to, "data": "0x" + call.data.hex()}, at]))
        return self._rpc.ask(questions, _make_payload)

    def parse(self, payload: GasPayload) -> Contents:
        """Return the price."""
        price = read_execution_price(payload.history) + self._compute_data_price(payload.data_fee)
        if not 0 < price <= MOST_WEI:
            raise BadPayload(f"{self.name}: {price} wei must be from 1 to {MOST_WEI}")
        return Contents(markets=(), gas_prices={self._rpc.chain_id: price})

    def _make_data_call(self) -> Call | None:
        chain = CHAINS.get(self._rpc.chain_id)
        return DATA_FEES.get(chain.gas_model) if chain else None

    def _compute_data_price(self, answer: Any) -> int:
        """Return the fee for data, per unit of gas, rounded up."""
        call = self._make_data_call()
        if call is None:
            return 0
        values = call.decode(Outcome(read_hex(answer, f"{self.name}: data fee")))
        fee = values[0] if len(values) == 1 else values[1] * TYPICAL_BYTES
        if fee > MOST_L1_FEE:
            raise BadPayload(f"{self.name}: a data fee of {fee} wei is more than {MOST_L1_FEE}")
        return int(-(-fee // TYPICAL_GAS))


def _make_payload(answers: list[Answer]) -> GasPayload:
    for answer in answers:
        if isinstance(answer, RpcRefused):
            raise answer
    return GasPayload(*answers)


def read_execution_price(history: Any) -> int:
    """Return base fee and tip from an answer of ``eth_feeHistory``.

    Raises
    ------
    BadPayload
        Naming the field that is missing or malformed.
    """
    if not isinstance(history, dict):
        raise BadPayload(f"a fee history must be an object, not {str(history)[:80]!r}")
    bases, rewards = history.get("baseFeePerGas"), history.get("reward") or []
    if not isinstance(bases, list) or not bases or not isinstance(rewards, list):
        raise BadPayload("baseFeePerGas and reward must be lists")
    tips = sorted(_parse_wei(row[0], "reward") for row in rewards if isinstance(row, list) and row)
    # The last entry is the fee of the block after the newest.
    return _parse_wei(bases[-1], "baseFeePerGas") + (tips[len(tips) // 2] if tips else 0)


def _parse_wei(text: object, field: str) -> int:
    return read_quantity({field: text}, field, bits=64)
