"""Stargate v2: each pool's paths to other chains, read whole from its contracts and held against its own quotes.

Functions are those of ``StargateBase``, ``StargatePool`` and ``FeeLibV1`` (stargate-protocol/stargate-v2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.chain.deployments import Facts, read_deployments
from adapters.chain.protocol import ChainProtocol, Pool, States
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Call, CallFailed, Function, Log, Outcome
from adapters.rpc.reading import Reading, ask_each
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.errors import InvalidMarket, QuoteRefused
from routing_engine.markets import StargateLane
from routing_engine.markets.bridges.fill_times import layer_zero_fill_time
from routing_engine.markets.bridges.stargate import SHARED_DECIMALS
from routing_engine.markets.bridges.terms import lane_id
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS, bridge_facts

ORDER = "(uint32,bytes32,uint256,uint256,bytes,bytes,bytes)"
"""Types of ``SendParam``."""
SOMEBODY = bytes(31) + b"\x01"
PROBE = 1_000
"""Whole tokens for which the pool's own quote is compared; a tenth, and so on, where its credit is less."""
NOT_ENTERED = 1

ADDRESS_CONFIG = Function("getAddressConfig()", "address")
STATUS = Function("status()", "uint8")
PATHS = Function("paths(uint32)", "uint64")
TREASURY = Function("treasuryFee()", "uint64")
POOL_BALANCE, TVL, OFFSET = (Function(f"{name}()", "uint256") for name in ("poolBalance", "tvl", "deficitOffset"))
FEE_CONFIG = Function("feeConfigs(uint32)", "bool", "uint64", "uint64", "uint24", "uint24", "uint24", "uint24")
QUOTE_OFT = Function(f"quoteOFT({ORDER})", "uint256", "uint256", "(int256,string)[]", "uint256", "uint256")
QUOTE_SEND = Function(f"quoteSend({ORDER},bool)", "uint256", "uint256")


@dataclass(frozen=True, slots=True)
class Path:
    """What is known of one path: its lane, or why there is none for now."""

    lane: StargateLane | None
    reason: str = ""


class Stargate(ChainProtocol[Path]):
    """The pools of one chain; a path, not a pool, is what `Pool` stands for here.

    Parameters
    ----------
    chain_id : int
        Where the pools are.
    """

    name = "stargate"

    def __init__(self, chain_id: int, deployments: Sequence[Facts]) -> None:
        self._chain_id = chain_id
        self._deployments = deployments

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return nobody: no event is followed."""
        return ()

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Return the paths between pools of the same token; they are listed, not asked for."""
        yield from ()
        here = {each.get_text("symbol"): each for each in self._deployments}
        return tuple(
            make_path(self._chain_id, here[symbol].get_address("pool"), symbol, chain_id)
            for chain_id in bridge_facts("layerzero")
            for symbol in sorted(list_symbols(chain_id) & here.keys())
            if chain_id != self._chain_id and tokens.find(token_registry.token(symbol, self._chain_id).address)
        )

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[Path]]:
        """Read the state of each path."""
        return read_paths(pools, SOMEBODY)

    def apply(self, pool: Pool, state: Path, log: Log) -> Path | None:
        """Read the path again."""
        return None

    def refresh(self, held: Mapping[str, tuple[Pool, Path]]) -> Reading[States[Path]]:
        """Read every path: credit comes by messages, fees by their owners, prices of messages all the time."""
        return read_paths(tuple(pool for pool, _ in held.values()), SOMEBODY)

    def make_market(self, pool: Pool, state: Path) -> StargateLane | None:
        """Return the path's lane, or None where it is paused or cannot be understood."""
        return state.lane


def read_paths(pools: tuple[Pool, ...], recipient: bytes) -> Reading[dict[str, Path]]:
    """Read paths at the present block, with the message's price for a recipient of 32 bytes."""
    contracts = yield from ask_each(pools, lambda pool: (ADDRESS_CONFIG(get_contract(pool)),))
    libraries: dict[Pool, str] = {}
    for pool, ((call, outcome),) in contracts.items():
        try:
            libraries[pool] = call.decode_one(outcome)
        except CallFailed:
            continue
    answers = yield from ask_each(libraries, lambda pool: _make_calls(pool, libraries[pool], recipient))
    unreadable = {pool.key: Path(None, "unreadable") for pool in pools}
    return unreadable | {pool.key: _read_path(pool, answers[pool]) for pool in libraries}


def make_order(pool: Pool, recipient: bytes, amount: int) -> tuple[object, ...]:
    """Return a ``SendParam`` that goes at once, by taxi."""
    return (pool.get_number(1), recipient, amount, 0, b"", b"", b"")


def get_contract(path: Pool) -> str:
    """Return the contract of the pool that a path leaves from."""
    return str(path.facts[0])


def make_path(origin: int, contract: str, symbol: str, destination: int) -> Pool:
    """Return the path of a token's pool to another chain."""
    ends = token_registry.token(symbol, origin), token_registry.token(symbol, destination)
    return Pool(key=f"{contract}-{destination}", tokens=ends, facts=(contract, get_endpoint_id(destination)))


def get_endpoint_id(chain_id: int) -> int:
    """Return LayerZero's number of a chain that it serves."""
    return int(CHAINS[chain_id].bridges["layerzero"]["eid"])


def list_symbols(chain_id: int) -> set[str]:
    """Return the symbols of the tokens that have a pool on a chain."""
    return {each.get_text("symbol") for each in read_deployments("stargate", chain_id)}


def find_protocols(chain_id: int) -> Iterator[Stargate]:
    """Return the pools of a chain."""
    found = tuple(read_deployments("stargate", chain_id))
    if found and chain_id in bridge_facts("layerzero"):
        yield Stargate(chain_id, found)


def _make_calls(pool: Pool, library: str, recipient: bytes) -> tuple[Call, ...]:
    contract, eid, unit = get_contract(pool), pool.get_number(1), 10 ** pool.tokens[0].decimals
    state = tuple(function(contract) for function in (STATUS, TREASURY, POOL_BALANCE, TVL, OFFSET))
    orders = tuple(make_order(pool, recipient, PROBE * unit // 10**step) for step in range(4))
    return (
        *state,
        PATHS(contract, eid),
        FEE_CONFIG(library, eid),
        QUOTE_SEND(contract, orders[0], False),
        *(QUOTE_OFT(contract, order) for order in orders),
    )


def _read_path(pool: Pool, answers: tuple[tuple[Call, Outcome], ...]) -> Path:
    try:
        status, treasury, balance, tvl, offset, credit = (call.decode_one(outcome) for call, outcome in answers[:6])
        paused, *terms = answers[6][0].decode(answers[6][1])
        if status != NOT_ENTERED or paused:
            return Path(None, "paused")
        native_fee, _ = answers[7][0].decode(answers[7][1])
        token_in, token_out = pool.tokens
        unit = 10 ** (token_in.decimals - SHARED_DECIMALS)
        lane = StargateLane(
            id=lane_id("stargate", token_in, token_out),
            token_in=token_in,
            token_out=token_out,
            terms=FeeTerms(*terms),
            deficit=max(0, tvl + offset - balance) // unit,
            treasury=treasury,
            credit=credit,
            native_fee=native_fee,
            fill_time_s=layer_zero_fill_time(token_in.chain_id, token_out.chain_id),
        )
        return Path(lane) if _is_confirmed(lane, answers[8:]) else Path(None, "quotes_differ")
    except CallFailed:
        return Path(None, "unreadable")
    except InvalidMarket as error:
        return Path(None, f"invalid_{error.field}")


def _is_confirmed(lane: StargateLane, quotes: Sequence[tuple[Call, Outcome]]) -> bool:
    """Whether the lane gives what the pool's own quotes say, for every amount that the path can take."""
    unit_in, unit_out = (10 ** (token.decimals - SHARED_DECIMALS) for token in lane.tokens)
    for call, outcome in quotes:
        _, _, _, sent, received = call.decode(outcome)
        try:
            hop, _ = lane.swap_exact_in(lane.token_in, lane.token_out, sent)
        except QuoteRefused:
            if 0 < received // unit_in <= lane.credit and sent // unit_in <= lane.credit:
                return False
            continue
        if hop.amount_out // unit_out != received // unit_in:
            return False
    return True
