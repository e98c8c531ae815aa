"""What a strategy owns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from routing_engine.errors import InvalidRequest
from routing_engine.model import Token
from routing_engine.snapshot.snapshot import Snapshot
from routing_engine.values import seal


@seal
class Portfolio(Mapping[Token, int]):
    """Smallest units by token: what is free to be spent. A token that is not there counts as 0.

    The coin that gas is paid in may fall below 0: gas is a debt then, which counts in the equity.
    """

    def __init__(self, amounts: Mapping[Token, int] | None = None) -> None:
        vars(self).update(_amounts=MappingProxyType(dict(amounts or {})))

    _amounts: Mapping[Token, int]

    @classmethod
    def of(cls, amounts: Mapping[Token | str, int], snapshot: Snapshot) -> Portfolio:
        """Return a portfolio of amounts by tokens or their names.

        Raises
        ------
        InvalidRequest
            If a name is unknown or ambiguous, or an amount is no int of at least 0.
        """
        found: dict[Token, int] = {}
        for name, amount in amounts.items():
            if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
                raise InvalidRequest("portfolio", f"{name}: must be an int of at least 0, not {amount!r}")
            found[name if isinstance(name, Token) else snapshot.token(name)] = amount
        return cls(found)

    def add(self, token: Token, amount: int) -> Portfolio:
        """Return the portfolio with more, or where it is negative less, of a token."""
        return Portfolio({**self._amounts, token: self[token] + amount}) if amount else self

    def __getitem__(self, token: Token) -> int:
        return self._amounts.get(token, 0)

    def __iter__(self) -> Iterator[Token]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __reduce__(self) -> tuple[object, ...]:
        return Portfolio, (dict(self._amounts),)

    def __repr__(self) -> str:
        return f"Portfolio({', '.join(token.show(amount) for token, amount in self._amounts.items())})"
