"""Stargate's adapter against the bytecode of its pool and fee library."""

from __future__ import annotations

import random

import pytest

from adapters.base import Declined
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.bridges.stargate.firm_quotes import StargateQuotes
from adapters.bridges.stargate.protocol import (
    SOMEBODY,
    Path,
    Stargate,
    find_protocols,
    list_symbols,
    make_path,
    read_paths,
)
from adapters.chain.deployments import Facts
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Outcome
from adapters.rpc.reading import Reply, Request, run
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.reference import token_registry
from tests.support.evm import ACTOR, Evm, Reverted
from tests.support.stargate import EID, StargatePool

TERMS = FeeTerms(10**12, 10**13, 0, 600, 3_000, 60)


class EvmResponder:
    """Answers readings from an in-process EVM."""

    def __init__(self, evm: Evm) -> None:
        self.evm = evm
        self.requests = 0

    def answer(self, request: Request) -> Reply:
        self.requests += 1
        return Reply(outcomes=tuple(self._call(call.to, call.data) for call in request.calls))

    def _call(self, to: str, data: bytes) -> Outcome:
        try:
            return Outcome(self.evm.send(to, data))
        except Reverted:
            return Outcome(b"", reverted=True)


def read(pool: StargatePool, symbol: str = "USDC") -> Path:
    responder = EvmResponder(pool.contract.evm)
    path = make_path(1, pool.contract.address, symbol, 10)
    (state,) = run(read_paths((path,), SOMEBODY), responder).values()
    assert responder.requests == 2
    return state


@pytest.mark.parametrize(("symbol", "decimals"), [("USDC", 6), ("ETH", 18)])
def test_the_lane_is_the_pools(symbol: str, decimals: int) -> None:
    rng = random.Random(f"stargate adapter {symbol}")
    for _ in range(12):
        pool = StargatePool.deploy(Evm(), decimals)
        pool.configure(TERMS)
        credit = int(10 ** rng.uniform(9, 14))
        pool.fund(
            pooled=int(10 ** rng.uniform(6, 14)),
            offset=rng.choice((0, int(10 ** rng.uniform(4, 13)))),
            treasury=rng.choice((0, int(10 ** rng.uniform(0, 12)))),
            credit=credit,
        )
        lane = read(pool, symbol).lane
        assert lane is not None
        assert lane.tokens == (token_registry.token(symbol, 1), token_registry.token(symbol, 10))
        assert (lane.credit, lane.terms) == (credit, TERMS)
        for _ in range(20):
            amount = rng.randrange(pool.unit, credit * pool.unit)
            _, arrives = pool.quote(amount)
            if arrives and arrives // pool.unit <= credit:
                hop, _ = lane.swap_exact_in(*lane.tokens, amount)
                assert hop.amount_out == arrives // pool.unit * 10 ** (decimals - 6)


def funded() -> StargatePool:
    pool = StargatePool.deploy(Evm(), 6)
    pool.configure(TERMS)
    pool.fund(pooled=10**13, offset=0, treasury=0, credit=10**12)
    return pool


def test_a_paused_pool_and_a_paused_path_have_no_lane() -> None:
    pool = funded()
    pool.fee_library("setPaused", EID, True)
    assert read(pool) == Path(None, "paused")
    pool.fee_library("setPaused", EID, False)
    assert read(pool).lane is not None
    pool.contract("setPause", True)
    assert read(pool) == Path(None, "paused")


def test_a_pool_whose_quotes_are_computed_otherwise_has_no_lane() -> None:
    """The fees that are read are not those that the pool charges."""
    pool = funded()
    evm = pool.contract.evm
    elsewhere = StargatePool.deploy(evm, 6)
    elsewhere.configure(FeeTerms(10**12, 10**13, 5_000, 6_000, 7_000, 0))
    library = elsewhere.fee_library.address
    path = make_path(1, pool.contract.address, "USDC", 10)

    class Confused(EvmResponder):
        def answer(self, request: Request) -> Reply:
            moved = [
                (library if call.function.signature.startswith("feeConfigs") else call.to, call.data)
                for call in request.calls
            ]
            return Reply(outcomes=tuple(self._call(to, data) for to, data in moved))

    (state,) = run(read_paths((path,), SOMEBODY), Confused(evm)).values()
    assert state == Path(None, "quotes_differ")


def test_what_is_no_pool_is_unreadable() -> None:
    path = make_path(1, ACTOR, "USDC", 10)
    (state,) = run(read_paths((path,), SOMEBODY), EvmResponder(Evm())).values()
    assert state == Path(None, "unreadable")


def test_paths_lead_wherever_the_token_has_a_pool() -> None:
    (stargate,) = find_protocols(1)
    tokens = ChainTokens(info.on(1) for info in token_registry.tokens() if 1 in info.chain_ids)
    paths = run(stargate.discover(tokens), EvmResponder(Evm()))
    assert {(path.tokens[0].symbol, path.tokens[1].chain_id) for path in paths} == {
        (symbol, chain_id) for chain_id in (10, 137, 8453, 42161) for symbol in list_symbols(chain_id) & list_symbols(1)
    }
    assert len({path.key for path in paths}) == len(paths) == 10
    only_ether = ChainTokens([token_registry.token("ETH", 1)])
    assert len(run(stargate.discover(only_ether), EvmResponder(Evm()))) == 3
    assert list(find_protocols(56)) == []


def test_every_path_is_read_again_at_each_block() -> None:
    pool = funded()
    stargate = Stargate(1, ())
    path = make_path(1, pool.contract.address, "USDC", 10)
    responder = EvmResponder(pool.contract.evm)
    before = run(stargate.read((path,)), responder)
    pool.send(5 * 10**8)
    after = run(stargate.refresh({path.key: (path, before[path.key])}), responder)
    lanes = [stargate.make_market(path, states[path.key]) for states in (before, after)]
    assert lanes[0] is not None
    assert lanes[0].swap_exact_in(*lanes[0].tokens, 5 * 10**8)[1] == lanes[1]


def test_a_firm_quote_is_the_pools_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = funded()
    facts = Facts({"symbol": "USDC", "pool": pool.contract.address})
    monkeypatch.setattr("adapters.bridges.stargate.firm_quotes.read_deployments", lambda protocol, chain_id: [facts])
    lane = read(pool).lane
    assert lane is not None
    hop, _ = lane.swap_exact_in(*lane.tokens, 5 * 10**8 + 1)
    pool.configure(FeeTerms(10**12, 10**13, 5_000, 6_000, 7_000, 0))
    quoter = FirmQuoter([StargateQuotes(lambda chain_id: EvmResponder(pool.contract.evm))])
    quote = quoter.confirm(hop, sender=ACTOR, recipient=ACTOR)
    assert quote.hop.amount_out == pool.quote(5 * 10**8 + 1)[1] < hop.amount_out
    assert quote.terms == {
        "contract": pool.contract.address.lower(),
        "dstEid": 30111,
        "to": "0x" + "00" * 12 + ACTOR[2:],
        "amountLD": 5 * 10**8 + 1,
        "minAmountLD": quote.hop.amount_out,
        "nativeFee": 0,
    }
    pool.contract("setPause", True)
    with pytest.raises(Declined, match="paused"):
        quoter.confirm(hop, sender=ACTOR, recipient=ACTOR)
    drained = StargatePool.deploy(Evm(), 6)
    drained.configure(TERMS)
    drained.fund(pooled=10**13, offset=0, treasury=0, credit=10**6)
    facts.record["pool"] = drained.contract.address  # type: ignore[index]  # a dict here
    short = FirmQuoter([StargateQuotes(lambda chain_id: EvmResponder(drained.contract.evm))])
    with pytest.raises(Declined, match="AMOUNT_TOO_HIGH"):
        short.confirm(hop, sender=ACTOR, recipient=ACTOR)
