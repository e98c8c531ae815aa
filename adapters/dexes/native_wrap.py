"""The wrapping contract of a chain's native coin: one for one, whatever happens."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.chain.protocol import ChainProtocol, Pool, Refused, States, build_states
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import CallFailed, Function, Log
from adapters.rpc.reading import Reading, ask_each
from routing_engine.markets import NativeWrap
from routing_engine.reference.chains import CHAINS, Chain

TOTAL_SUPPLY = Function("totalSupply()", "uint256")
"""Of WETH9 and its likes: the coins they hold."""


class NativeWrapping(ChainProtocol[NativeWrap]):
    """The one contract of a chain.

    Parameters
    ----------
    chain : Chain
        Where it is.
    """

    name = "wrap"

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return nobody: nothing ever changes."""
        return ()

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Return the contract, if the wrapped token is listed."""
        yield from ()
        found = tokens.find(self._chain.wrapped_native)
        return (Pool(key=found.address, tokens=(self._chain.native_token, found)),) if found else ()

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[NativeWrap]]:
        """See whether the contract is there."""
        asked = yield from ask_each(pools, lambda pool: (TOTAL_SUPPLY(pool.key),))

        def build_state(pool: Pool) -> NativeWrap | Refused:
            ((call, outcome),) = asked[pool]
            if call.decode_one(outcome) == 0:
                raise CallFailed(f"{pool.key}: wraps nothing")
            return NativeWrap.of(self._chain)

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: NativeWrap, log: Log) -> NativeWrap:
        """Return the same."""
        return state


def find_deployments(chain_id: int) -> Iterator[NativeWrapping]:
    """Return the contract of a chain that the engine describes."""
    if chain_id in CHAINS:
        yield NativeWrapping(CHAINS[chain_id])
