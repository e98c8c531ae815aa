"""Access to real chains for building payments: chains to try them on, builders of calldata, bridges to ask again."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from adapters.base import FirmQuote
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.feed.plan import Plan
from adapters.http.client import HttpLimits, JsonClient
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.config import Config
from api.domain.clock import Clock
from api.domain.env import EnvMode
from api.services.chains.balances import BalanceReader
from api.services.chains.inquiries import Inquiries
from api.services.ledger.chain_ledger import connect_pools
from routing_engine import Hop

LIMITS = HttpLimits(connect_s=2.0, read_s=5.0, total_s=6.0, max_bytes=8 * 2**20, tries=1)
"""A customer waits: another endpoint, or the reason why not, is there before the page gives up."""

MOST_TRIALS_A_MINUTE = 120
MOST_LOOKUPS_A_MINUTE = 300
"""On one chain, for all callers without a key together, and for all with one."""


class Firm(Protocol):
    """Confirms a hop over a bridge; `adapters.bridges.firm_quotes.FirmQuoter`."""

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for the very amount and addresses now; raises `AdapterError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainAccess:
    """The real chains of one environment, and who knows what on them.

    Parameters
    ----------
    chains : mapping of int to PaymentChain
        By chain id.
    builders : PaymentBuilders
        Builds calls.
    firm : Firm
        Confirms bridges.

    Attributes
    ----------
    balances : BalanceReader
        Reads what customers hold.
    trials : OpenInquiries
        Trials of routes for anybody who asks.
    lookups : OpenInquiries
        Transactions looked up for anybody who asks.
    """

    chains: Mapping[int, PaymentChain]
    builders: PaymentBuilders
    firm: Firm
    balances: BalanceReader = field(init=False)
    trials: OpenInquiries = field(init=False)
    lookups: OpenInquiries = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "balances", BalanceReader(self.chains))
        object.__setattr__(self, "trials", OpenInquiries(self.chains, MOST_TRIALS_A_MINUTE))
        object.__setattr__(self, "lookups", OpenInquiries(self.chains, MOST_LOOKUPS_A_MINUTE))


class OpenInquiries:
    """Inquiries for whoever asks without an order: strangers take nothing from those who have a key.

    Parameters
    ----------
    chain_ids : collection of int
        The chains that may be asked.
    most_a_minute : int
        On each of them, for either kind of caller.
    """

    def __init__(self, chain_ids: Collection[int], most_a_minute: int) -> None:
        self._of: dict[bool, Inquiries[Any]] = {
            has_key: Inquiries(chain_ids, most_a_minute=most_a_minute) for has_key in (False, True)
        }

    def choose(self, *, has_key: bool) -> Inquiries[Any]:
        """Return those that a caller takes part in."""
        return self._of[has_key]


class _LazyFirmQuoter:
    """Makes the adapters of bridges at the first question: most processes never ask one."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._quoter: FirmQuoter | None = None

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        with self._lock:
            self._quoter = self._quoter or FirmQuoter.from_plan(self._plan, JsonClient())
        return self._quoter.confirm(hop, sender=sender, recipient=recipient)


def connect_chains(config: Config, clock: Clock) -> Mapping[EnvMode, ChainAccess]:
    """Return the access to the real chains of each environment that endpoints are configured for."""
    return {
        env_mode: ChainAccess(
            chains={
                chain_id: PaymentChain(pool) for chain_id, pool in connect_pools(urls, env_mode, clock, LIMITS).items()
            },
            builders=PaymentBuilders.load(),
            firm=_LazyFirmQuoter(config.market),
        )
        for env_mode in EnvMode
        if (urls := config.rpc_urls(env_mode))
    }
