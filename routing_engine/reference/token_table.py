"""Finding tokens by the names that people type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from routing_engine.errors import AmbiguousToken, InvalidRequest, UnknownToken
from routing_engine.market import Market
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from routing_engine.reference import token_registry

SHOWN = 5
MAX_NAME = 100


class TokenTable:
    """The tokens of a set of markets.

    Parameters
    ----------
    markets : iterable of Market
        Whose tokens to list, in order of appearance.
    refused : mapping of str to int
        How many pools were left out at import, by reason: a token may be missing with them.
    """

    def __init__(self, markets: Iterable[Market], refused: Mapping[str, int]) -> None:
        self._left_out = sum(refused.values())
        self._by_key: dict[str, Token] = {}
        self._uses: dict[Token, int] = {}
        for market in markets:
            for token in market.tokens:
                self._by_key.setdefault(token.key, token)
                self._uses[token] = self._uses.get(token, 0) + 1
        self._by_symbol: dict[str, list[Token]] = {}
        for token in self._by_key.values():
            self._by_symbol.setdefault(token.symbol.upper(), []).append(token)

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Token]:
        return iter(self._by_key.values())

    def __contains__(self, token: Token) -> bool:
        return token.key in self._by_key

    def at(self, chain_id: int, address: str) -> Token | None:
        """Return the token with this address, any case, zero address meaning the native coin; or None."""
        address = address.lower()
        address = NATIVE_ADDRESS if address == ZERO_ADDRESS else address
        return self._by_key.get(f"{address}@{chain_id}")

    def find(self, name: str) -> Token:
        """Find by ``SYMBOL@chain``, ``address@chain``, or without chain; see `Snapshot.token`."""
        if not isinstance(name, str):
            raise InvalidRequest("token", f"must be a name such as 'WETH@1', not {name!r}")
        if len(name) > MAX_NAME:
            raise UnknownToken("token", f"{name[:MAX_NAME]!r}… is too long; write SYMBOL@chain or address@chain")
        label, _, chain = name.strip().partition("@")
        if chain and not (chain.isascii() and chain.isdecimal()):
            raise UnknownToken("token", f"{name!r}: after @ comes a chain id, such as USDC@1")
        found = self._by_address(label) if label.lower().startswith("0x") else self._by_symbol.get(label.upper(), [])
        found = [token for token in found if not chain or token.chain_id == int(chain)]
        if len(found) > 1:
            found = [token for token in found if _is_well_known(token)] or found
        if not found:
            raise UnknownToken("token", f"{name!r} is not in this market{self._suggest(label, chain)}")
        if len(found) > 1:
            listed = sorted(found, key=lambda token: -self._uses[token])[:SHOWN]
            choices = ", ".join(f"{token.key} (in {self._uses[token]} of the markets)" for token in listed)
            raise AmbiguousToken("token", f"{name!r} may be {choices}; say which")
        return found[0]

    def _by_address(self, address: str) -> list[Token]:
        chains = {token.chain_id for token in self._by_key.values()}
        found = (self.at(chain_id, address) for chain_id in sorted(chains))
        return [token for token in found if token]

    def _suggest(self, label: str, chain: str) -> str:
        import difflib

        chains = sorted({token.chain_id for token in self._by_key.values()})
        chains = chains if chain and int(chain) not in chains else []
        said = f"; its chains are {', '.join(map(str, chains))}" if chains else ""
        near = difflib.get_close_matches(label.upper(), self._by_symbol, n=SHOWN)
        names = ", ".join(str(self._by_symbol[symbol][0]) for symbol in near)
        said += f"; did you mean {names}?" if names else ""
        if not self._left_out:
            return said
        are_left = "1 pool was left out" if self._left_out == 1 else f"{self._left_out:,} pools were left out"
        return f"{said}; {are_left} at import: `refused` of the snapshot, or `snapshot info`, says why"


def _is_well_known(token: Token) -> bool:
    """Whether the registry lists this very contract under this symbol; imitations of it are then passed over."""
    info = token_registry.info_of(token.chain_id, token.address)
    return info is not None and info.symbol.upper() == token.symbol.upper()
