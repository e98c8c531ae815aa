"""The tokens that markets are looked for between, and whether their contracts agree with the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from adapters.rpc.abi import Call, CallFailed, Function, Outcome
from adapters.rpc.reading import Reading, ask
from routing_engine.model import MAX_DECIMALS, NATIVE_ADDRESS, ZERO_ADDRESS, Token
from routing_engine.reference import token_registry

DECIMALS = Function("decimals()", "uint256")
SYMBOL = Function("symbol()", "bytes32")
"""Read raw: older contracts answer 32 bytes, later ones a string."""

LONGEST_SYMBOL = 64
MOST_IN_ALL_PAIRS = 150
HUBS = frozenset(("native", "wrapped_native", "stablecoin"))
"""Tags in the registry."""


class ChainTokens:
    """Listed tokens of one chain.

    Parameters
    ----------
    tokens : iterable of Token
        All on one chain; the native coin may be among them.
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._by_address = {token.address: token for token in tokens}

    @classmethod
    def from_tokens(cls, tokens: Iterable[Token], chain_id: int) -> ChainTokens:
        """Return those of a list that are on one chain."""
        return cls(token for token in tokens if token.chain_id == chain_id)

    def __iter__(self) -> Iterator[Token]:
        return iter(self._by_address.values())

    def __len__(self) -> int:
        return len(self._by_address)

    def find(self, address: str) -> Token | None:
        """Return the token at an address of any case, the zero address meaning the native coin; or None."""
        address = address.lower()
        return self._by_address.get(NATIVE_ADDRESS if address == ZERO_ADDRESS else address)

    def find_all(self, addresses: Iterable[str]) -> tuple[Token, ...] | None:
        """Return the tokens at all these addresses, or None where one is not listed."""
        found = tuple(self.find(address) for address in addresses)
        listed = tuple(token for token in found if token is not None)
        return listed if len(listed) == len(found) else None

    @property
    def is_long(self) -> bool:
        """Whether there are too many tokens to look for pools of every pair."""
        return len(self) > MOST_IN_ALL_PAIRS

    def list_contracts(self) -> tuple[Token, ...]:
        """Return the tokens that have a contract, in the order in which pools sort them."""
        return tuple(sorted((t for t in self if not t.is_native), key=_rank))

    def list_pairs(self, *, native: bool = False) -> Iterator[tuple[Token, Token]]:
        """Return the pairs to look for pools of, each in the order in which pools sort them.

        Of a long list these are only the pairs with a hub: a wrapped native coin or a dollar. All others would be
        millions, nearly all without a pool.

        Parameters
        ----------
        native : bool
            Whether the native coin, which sorts first, is among them.
        """
        found = tuple(sorted((t for t in self if native or not t.is_native), key=_rank))
        hubs = {token for token in found if _is_hub(token)}
        return (pair for pair in combinations(found, 2) if not self.is_long or not hubs.isdisjoint(pair))


def _rank(token: Token) -> int:
    return 0 if token.is_native else int(token.address, 16)


def _is_hub(token: Token) -> bool:
    info = token_registry.info_of(token.chain_id, token.address)
    return info is not None and not HUBS.isdisjoint(info.tags)


def check_tokens(tokens: ChainTokens) -> Reading[tuple[ChainTokens, tuple[str, ...]]]:
    """Ask every token's contract for its decimals and symbol.

    A token whose contract does not answer, or has other decimals than the list, is left out: every amount would be
    wrong. Another symbol is only told of, since tokens are renamed.

    Returns
    -------
    ChainTokens
        Those that agree.
    tuple of str
        What was found otherwise.
    """
    contracts = tokens.list_contracts()
    calls = [call for token in contracts for call in (DECIMALS(token.address), SYMBOL(token.address))]
    outcomes = iter((yield from ask(calls)))
    kept, notes = [token for token in tokens if token.is_native], []
    for token, call in zip(contracts, calls[::2], strict=True):
        fault = _find_fault(token, call, next(outcomes))
        symbol = _read_symbol(next(outcomes))
        if fault:
            notes.append(f"{token} at {token.address} is left out: {fault}")
            continue
        kept.append(token)
        if symbol and symbol != token.symbol:
            notes.append(f"{token} at {token.address} calls itself {symbol!r}")
    return ChainTokens(kept), tuple(notes)


def _find_fault(token: Token, call: Call, outcome: Outcome) -> str:
    try:
        decimals = call.decode_one(outcome)
    except CallFailed as error:
        return str(error)
    if decimals > MAX_DECIMALS:
        return f"it claims {str(decimals)[:40]} decimals"
    return "" if decimals == token.decimals else f"it has {decimals} decimals, the list says {token.decimals}"


def _read_symbol(outcome: Outcome) -> str:
    """Return what a contract calls itself: a string, or 32 bytes; empty where it does not answer."""
    data = outcome.data
    if outcome.reverted or len(data) < 32:
        return ""
    try:
        raw = decode(["bytes"], data)[0] if len(data) > 32 else data.rstrip(b"\0")
    except DecodingError:
        return ""
    return raw[:LONGEST_SYMBOL].decode("utf-8", "replace")
