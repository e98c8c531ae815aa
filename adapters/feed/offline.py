"""Sources that need no network: the built-in sandbox, and a market file."""

from __future__ import annotations

from math import inf
from pathlib import Path

from adapters.base import BadPayload, Source, Venues
from routing_engine import BadMarketFile, formats
from routing_engine.formats import Contents
from routing_engine.sandbox import gas_prices, sandbox_markets

DAY_S = 86_400.0


class SandboxAdapter:
    """The built-in market on the five chains."""

    name = "sandbox"

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return the sandbox, which never changes."""
        return (Source(adapter=cls(), interval_s=DAY_S, max_age_s=inf),)

    def fetch(self) -> None:
        """Read nothing: the sandbox is computed."""

    def parse(self, payload: None) -> Contents:
        """Return the sandbox's markets and gas prices."""
        return Contents(markets=sandbox_markets(), gas_prices=gas_prices())


class MarketFileAdapter:
    """A market file on disk, in the library's own format or the neutral one.

    Parameters
    ----------
    path : Path
        The file; read again at each refresh.
    """

    name = "market_file"

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return the file that the option ``path`` names; nothing without it."""
        path = venues.options.get("path")
        return (Source(adapter=cls(Path(path)), interval_s=60, max_age_s=inf),) if path else ()

    def __init__(self, path: Path) -> None:
        self.path = path

    def fetch(self) -> Path:
        """Return where the file is; reading and checking it are one step of the formats."""
        return self.path

    def parse(self, payload: Path) -> Contents:
        """Read the file.

        Raises
        ------
        BadPayload
            If it is missing or damaged; the message names the file and the field.
        """
        try:
            return formats.load(payload)
        except BadMarketFile as error:
            raise BadPayload(str(error)) from error
