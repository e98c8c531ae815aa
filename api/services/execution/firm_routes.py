"""Routes over bridges that have confirmed their part of it.

A market's lanes are indicative. So the bridges of the best route are asked for its very amounts, their lanes are put in
the place of those that were read, and the search is made once more: what a bridge keeps more by now may make another
route the best, whose bridges are asked then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from adapters.base import AdapterError, Declined
from adapters.bridges.firm_quotes import confirm_lane
from api.services.chains.waiting_room import NoPlace
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from routing_engine.markets import BridgeLane

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess, Firm
    from routing_engine import Hop, Market, Router, RouteResult

ROUNDS = 6
"""Each asks the bridges of one route: where all keep more by now, each of the best few has to say so."""
PATIENCE_S = 5.0
"""How long a caller waits for the bridges of one route."""
DECLINES = "the bridge does not take this amount just now"
SILENT = "the bridge did not confirm its quote in time"

log = structlog.get_logger(__name__)

Asked = tuple["Hop", str]
"""A hop over a bridge, and who is to receive what it gives."""
Told = Mapping["Hop", "Hop | None"]
"""What a bridge makes of a hop now; None where it declines. Who does not answer is missing."""


@dataclass(slots=True, kw_only=True)
class FirmSearch:
    """Asks the bridges of ever another best route.

    Parameters
    ----------
    resources : Resources
        The service's.
    query : RouteQuery
        With payer and recipient.
    access : ChainAccess or None
        Knows whom to ask; without real chains nobody is asked.
    has_key : bool
        Whether the caller has a key; strangers are admitted apart.
    stopwatch : callable
        Monotonic seconds.

    Attributes
    ----------
    firm : dict of (str, int) to int
        What bridges give: by market and amount in, smallest units.
    unconfirmed : dict of str to str
        Why a protocol has not confirmed what it was asked, by name.
    """

    resources: Resources
    query: RouteQuery
    access: ChainAccess | None
    has_key: bool
    stopwatch: Callable[[], float] = time.monotonic
    firm: dict[tuple[str, int], int] = field(default_factory=dict)
    unconfirmed: dict[str, str] = field(default_factory=dict)

    def is_firm(self, hop: Hop) -> bool:
        """Whether a bridge has confirmed a hop, to the unit."""
        return self.firm.get((hop.market_id, hop.amount_in)) == hop.amount_out

    def improve(self, router: Router, result: RouteResult, ends: float) -> Iterator[tuple[Router, RouteResult]]:
        """Yield a router that knows what bridges have just confirmed, and what it finds, until all of it is firm.

        Parameters
        ----------
        router, result
            The market as it was read, and what was found there.
        ends : float
            Of `stopwatch`; nobody is asked afterwards.
        """
        for _ in range(ROUNDS):
            hops = tuple(hop for hop in result.best().hops if hop.is_bridge and not self.is_firm(hop))
            patience_s = min(PATIENCE_S, ends - self.stopwatch())
            if self.access is None or not hops or patience_s <= 0:
                return
            told = self._ask(self.access, hops, patience_s)
            self._note(hops, told)
            lanes = [*self._write_lanes(router.snapshot.markets, told)]
            if not lanes:
                return
            router = router.follow(router.snapshot.apply(lanes))
            following = router.find_routes(self.query.request)
            if not following.routes:
                return
            result = following
            yield router, result

    def _ask(self, access: ChainAccess, hops: tuple[Hop, ...], patience_s: float) -> Told:
        """Ask in a thread that nobody waits long for."""
        request, payer, recipient = self.query.request, self.query.payer, self.query.recipient
        asked = tuple((hop, recipient if hop.token_out == request.token_out else payer) for hop in hops)
        ask = partial(_ask_all, access.firm, payer, asked)
        inquiries = access.trials.choose(has_key=self.has_key)
        try:
            with self.resources.lobby.enter(int(self.has_key)):
                inquiry = inquiries.begin(hops[0].token_in.chain_id, (payer, asked), ask)
                found: Told | None = inquiries.wait(inquiry, patience_s) if inquiry else None
        except NoPlace:
            found = None
        return found or {}

    def _write_lanes(self, markets: Mapping[str, Market], told: Told) -> Iterator[BridgeLane]:
        """Yield the lanes as their bridges confirm them, and closed ones for those that decline."""
        for hop, confirmed in told.items():
            lane = markets[hop.market_id]
            if not isinstance(lane, BridgeLane):
                continue
            following = confirm_lane(lane, confirmed) if confirmed else replace(lane, max_amount_in=0)
            if following is None:
                continue
            if confirmed:
                self.firm[hop.market_id, hop.amount_in] = confirmed.amount_out
            yield following

    def _note(self, hops: tuple[Hop, ...], told: Told) -> None:
        for hop in hops:
            if told.get(hop) is None:
                self.unconfirmed[hop.protocol] = DECLINES if hop in told else SILENT


def _ask_all(firm: Firm, payer: str, asked: tuple[Asked, ...]) -> Told:
    """Ask one bridge after the other; what fails in an adapter, which may be anybody's, is no answer."""
    told: dict[Hop, Hop | None] = {}
    for hop, recipient in asked:
        try:
            told[hop] = firm.confirm(hop, sender=payer, recipient=recipient).hop
        except Declined:
            told[hop] = None
        except AdapterError:
            continue
        except Exception:
            log.exception("bridge_not_asked", protocol=hop.protocol)
    return told
