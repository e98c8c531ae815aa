"""What every use case is given: settings, clock, database, market and chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.config import Config
from api.domain.clock import Clock
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.domain.short_memory import ShortMemory
from api.domain.turns import Turns
from api.net.resolver import Resolver, SystemResolver
from api.secrets.box import SecretBox, open_box
from api.services.chains.chain_access import ChainAccess
from api.services.chains.screening import Screen, ScreenMemory, nobody
from api.services.chains.waiting_room import WaitingRoom
from api.services.market.market import MarketService
from api.services.market.search_turns import SearchTurns
from api.services.market.snapshots import SnapshotArchive
from api.storage.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The world outside the use cases; `api.context` makes it once for each process.

    Parameters
    ----------
    chain_access : mapping of EnvMode to ChainAccess
        The real chains that payers' transactions are built for; none for an environment with simulated chains.
    ledgers : mapping of EnvMode to Ledger
        The chains that are watched for payments, real or simulated; none for an environment without chains.
    screen : Screen
        Says with which addresses nothing must be exchanged.
    screened : ScreenMemory
        What it has said of payers lately.
    memory : ShortMemory
        What this process looked up a moment ago.
    searches : SearchTurns
        Searches for routes, one after the other.
    snapshots : SnapshotArchive
        Keeps the markets that quotes were made on.
    waiting_room : WaitingRoom
        Admits requests that wait for chains.
    lobby : WaitingRoom
        Admits requests that belong to no order and wait for chains: they take no place of a customer who pays. Half
        of its places are for callers without a key.
    name_room : WaitingRoom
        Admits requests that wait for name servers, which vendors choose.
    exports : Turns
        The vendors that this process writes an export for.
    repeatable_searches : Turns
        The idempotency keys that this process searches for.
    """

    config: Config
    clock: Clock
    database: Database
    resolver: Resolver = field(default_factory=SystemResolver)
    market: MarketService
    chain_access: Mapping[EnvMode, ChainAccess] = field(default_factory=dict)
    ledgers: Mapping[EnvMode, Ledger] = field(default_factory=dict)
    screen: Screen = nobody
    screened: ScreenMemory = field(default_factory=ScreenMemory)
    memory: ShortMemory = field(default_factory=ShortMemory)
    searches: SearchTurns = field(default_factory=SearchTurns)
    snapshots: SnapshotArchive = field(default_factory=SnapshotArchive)
    waiting_room: WaitingRoom = field(default_factory=WaitingRoom)
    lobby: WaitingRoom = field(default_factory=WaitingRoom)
    name_room: WaitingRoom = field(default_factory=WaitingRoom)
    exports: Turns = field(default_factory=Turns)
    repeatable_searches: Turns = field(default_factory=Turns)

    @property
    def box(self) -> SecretBox:
        """Encrypts what the database keeps secret."""
        return open_box(self.config.secret_keys, self.config.data_dir)

    def is_simulated(self, env_mode: EnvMode) -> bool:
        """Return whether an environment's payments move on simulated chains."""
        ledger = self.ledgers.get(env_mode)
        return ledger is not None and ledger.is_simulated
