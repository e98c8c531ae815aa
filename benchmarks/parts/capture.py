"""Reading a chain: real Uniswap contracts on a local node, captured whole and then block by block."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from eth_abi import encode

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.tokens import ChainTokens
from adapters.http.client import JsonClient, Traffic
from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from adapters.rpc.multicall import MULTICALL3
from adapters.rpc.reading import Reply, Request, Responder
from adapters.rpc.scan_program import Scan
from benchmarks.parts import Entries, Setting
from benchmarks.parts.report import Row, Table, at_least
from tests.support.capture import ONE_TO_ONE, Uniswap, tokens_of
from tests.support.chain import Chain, running_chain
from tests.support.evidence import data_of
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.uniswap import V2, V3, V3Pool, _v2_core, _v3_core

PAIRS, POOLS = (2_000, 500), (200, 50)
"""How many are captured in a full run, and in a quick one."""

TIERS = {500: 10, 3000: 60, 10_000: 200, 100: 1}
POSITIONS = 12
DEPTH = 10**24
PORTION = 40
BLOCKS = 20
MEGABYTE = 10**6


def run(setting: Setting) -> Entries:
    """Deploy, capture, then follow blocks in which one pair and one pool are traded."""
    quick = not setting.full
    with running_chain(1) as chain:
        setting.note("deploying pairs and pools")
        venue = deploy(chain, PAIRS[quick], POOLS[quick])
        client = JsonClient(limits=RPC_LIMITS)
        rpc = RpcPool(1, [chain.url], client=client, clock=chain.now)
        values = Values()
        adapter = OnChainAdapter(rpc, venue.protocols(), ChainTokens(venue.tokens), wrap=values.wrap)
        setting.note("capturing")
        capture = measure(adapter, client, values)
        ticks = sum(len(state.ticks) for state in adapter.memory.holdings["uniswap_v3"].states.values())
        blocks = []
        for number in range(BLOCKS):
            setting.note(f"block {number + 1} of {BLOCKS}")
            trade(venue, number)
            blocks.append(measure(adapter, client, values))
    yield from rows(f"{PAIRS[quick]:,} v2 pairs, {POOLS[quick]} v3 pools, {ticks:,} ticks", capture, blocks)


class Values:
    """Counts the values that are asked for: what one call each would cost in requests."""

    def __init__(self) -> None:
        self.count = 0

    def wrap(self, responder: Responder, _: Block) -> Responder:
        self._responder = responder
        return self

    def answer(self, request: Request) -> Reply:
        self.count += sum(call.count if isinstance(call, Scan) else 1 for call in request.calls)
        self.count += len(request.filters)
        return self._responder.answer(request)


class Measured:
    """What one fetch cost."""

    def __init__(self, values: int, seconds: float, traffic: Traffic, changed: int) -> None:
        self.values, self.seconds, self.traffic, self.changed = values, seconds, traffic, changed


def measure(adapter: OnChainAdapter, client: JsonClient, values: Values) -> Measured:
    """Fetch and parse once."""
    held = {} if adapter.memory is None else adapter.memory.collect_markets()
    values.count = 0
    before, started = client.traffic, time.perf_counter()
    contents = adapter.parse(adapter.fetch())
    seconds, after = time.perf_counter() - started, client.traffic
    spent = Traffic(
        requests=after.requests - before.requests,
        bytes_sent=after.bytes_sent - before.bytes_sent,
        bytes_received=after.bytes_received - before.bytes_received,
    )
    changed = sum(held.get(market.id) is not market for market in contents.markets)
    return Measured(values.count, seconds, spent, changed)


def rows(what: str, capture: Measured, blocks: Sequence[Measured]) -> Entries:
    """Compare with one call per value, and a block with the whole."""
    yield at_least(f"requests saved: {what}", capture.values / capture.traffic.requests, 50, "×")
    touched = sorted({block.changed for block in blocks})
    yield Row(
        what="markets made anew by a block that trades one pair and one pool",
        target="2",
        measured=", ".join(map(str, touched)),
        passed=touched == [2],
    )
    middle = sorted(blocks, key=lambda block: block.seconds)[len(blocks) // 2]
    yield Table(
        title=f"Reading {what}; each word of a pool's bitmap is a value",
        columns=("", "values", "requests", "MB sent", "MB received", "seconds"),
        rows=tuple(
            (
                name,
                f"{each.values:,}",
                f"{each.traffic.requests:,}",
                f"{each.traffic.bytes_sent / MEGABYTE:.2f}",
                f"{each.traffic.bytes_received / MEGABYTE:.2f}",
                f"{each.seconds:.3f}",
            )
            for name, each in (("the whole chain", capture), ("the next block, median", middle))
        ),
    )


def deploy(chain: Chain, pairs: int, pools: int) -> Uniswap:
    """Deploy both exchanges with pairs between the first tokens, and pools of every fee with ticks around the price."""
    count = next(n for n in range(2, 1000) if n * (n - 1) // 2 >= pairs)
    venue = Uniswap(chain, V2.deploy(chain), V3.deploy(chain), tokens_of(chain, count))
    venue.v3.factory("enableFeeAmount", 100, 1)
    tokens = venue.contracts
    with chain.one_block():
        for token in tokens:
            token("transfer", MULTICALL3, DEPTH * 10**12)
            token("approve", venue.v2.router.address, 2**256 - 1)
            token("approve", venue.v3.router.address, 2**256 - 1)
    together(chain, [(token, "approve", (venue.v3.positions.address, 2**256 - 1)) for token in tokens])
    ends = list(islice(((a, b) for b in range(count) for a in range(b)), pairs))
    add_pairs(venue, ends)
    add_pools(venue, ends[:: max(1, len(ends) // pools)][:pools])
    return venue


def add_pairs(venue: Uniswap, ends: Sequence[tuple[int, int]]) -> None:
    """Create pairs and give them reserves."""
    tokens, factory = venue.contracts, venue.v2.factory
    together(venue.chain, [(factory, "createPair", (tokens[a].address, tokens[b].address)) for a, b in ends])
    abi, steps = _v2_core("UniswapV2Pair")["abi"], []
    for a, b in ends:
        pair = venue.chain.at(factory("getPair", tokens[a].address, tokens[b].address), abi)
        venue.pairs[pair.address.lower()] = (tokens[a], tokens[b])
        steps += [
            (tokens[a], "transfer", (pair.address, DEPTH)),
            (tokens[b], "transfer", (pair.address, DEPTH)),
            (pair, "mint", (ACTOR,)),
        ]
    together(venue.chain, steps, portion=3 * PORTION)


def add_pools(venue: Uniswap, ends: Sequence[tuple[int, int]]) -> None:
    """Create pools, and positions of different widths around the price."""
    rng = random.Random(0)
    positions, abi = venue.v3.positions, _v3_core("UniswapV3Pool")["abi"]
    create, steps = [], []
    for number, (a, b) in enumerate(ends):
        fee = list(TIERS)[number % len(TIERS)]
        tokens = (venue.contracts[a].address, venue.contracts[b].address)
        create.append((positions, "createAndInitializePoolIfNecessary", (*tokens, fee, ONE_TO_ONE)))
        for _ in range(POSITIONS):
            lower, upper = (rng.randint(1, 3_000 // TIERS[fee] + 20) * TIERS[fee] for _ in range(2))
            order = (*tokens, fee, -lower, upper, DEPTH // 100, DEPTH // 100, 0, 0, ACTOR, FOREVER)
            steps.append((positions, "mint", (order,)))
    together(venue.chain, create)
    together(venue.chain, steps)
    for number, (a, b) in enumerate(ends):
        fee = list(TIERS)[number % len(TIERS)]
        token0, token1 = venue.contracts[a], venue.contracts[b]
        address = venue.v3.factory("getPool", token0.address, token1.address, fee)
        venue.pools[address.lower()] = V3Pool(venue.v3, venue.chain.at(address, abi), token0, token1, fee, set())


def together(chain: Chain, steps: Sequence[tuple[Contract, str, tuple[object, ...]]], portion: int = PORTION) -> None:
    """Send calls through Multicall3, many in a transaction; none may fail."""
    selector = bytes.fromhex("82ad56cb")
    for part in _portions(steps, portion):
        calls = [(contract.address, False, data_of(contract, name, *given)) for contract, name, given in part]
        chain.send(MULTICALL3, selector + encode(["(address,bool,bytes)[]"], [calls]))


def _portions(steps: Sequence[tuple[Contract, str, tuple[object, ...]]], size: int) -> Iterator[Sequence[object]]:
    for start in range(0, len(steps), size):
        yield steps[start : start + size]


def trade(venue: Uniswap, number: int) -> None:
    """Trade one pair and one pool in one block."""
    pair, pool = list(venue.pairs.values())[number], list(venue.pools.values())[number]
    path = [token.address for token in pair]
    with venue.chain.one_block():
        venue.v2.router("swapExactTokensForTokens", 10**18, 0, path, ACTOR, FOREVER)
        pool.trade(True, 10**18, exact_in=True)
