"""What a recording says of a block beside its market."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBlock:
    """A block whose market was recorded.

    Parameters
    ----------
    number : int
        Of the block.
    block_hash : str
        Its hash, or empty where none is known: numbers alone say then what replaces what.
    parent : str
        Hash of the block before it on the chain, or empty.
    follows : str
        Hash of the last recorded block that it is built on: its parent, or an earlier one where blocks between them
        were not recorded. Recorded blocks that come after that one were abandoned. Empty for the first block, and
        where hashes are not known.
    taken_at : str
        ISO 8601 time, or empty.
    snapshot_id : str
        Content hash of the market at the block; empty where none was recorded.
    changed, removed : int
        Markets that are new or not what they were at the block recorded before, and markets that are gone.
    markets : int
        Markets at the block; 0 where that was not recorded.
    gas_price : int or None
        Wei per gas unit; None where it is not known.
    engine : str
        Version of the library that recorded it: contents are hashed as that version does.
    """

    number: int
    block_hash: str = ""
    parent: str = ""
    follows: str = ""
    taken_at: str = ""
    snapshot_id: str = ""
    changed: int = 0
    removed: int = 0
    markets: int = 0
    gas_price: int | None = None
    engine: str = ""

    def to_record(self) -> dict[str, Any]:
        """JSON-ready; the gas price as digits."""
        record = asdict(self)
        return record | {"gas_price": None if self.gas_price is None else str(self.gas_price)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> RecordedBlock:
        """Inverse of `to_record`.

        Raises
        ------
        ValueError
            Naming the field that is missing or of another type.
        """
        fields = dict(record)
        if isinstance(price := fields.get("gas_price"), str) and price.isdecimal() and price.isascii():
            fields["gas_price"] = int(price)
        for name, kind in _KINDS.items():
            value = fields.get(name)
            if isinstance(value, bool) or not isinstance(value, kind) or (isinstance(value, int) and value < 0):
                raise ValueError(f"{name} is missing or wrong: {str(value)[:40]!r}")
        return cls(**{name: fields[name] for name in _KINDS})


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("number", "changed", "removed", "markets"), int),
    **dict.fromkeys(("block_hash", "parent", "follows", "taken_at", "snapshot_id", "engine"), str),
    "gas_price": int | None,
}
