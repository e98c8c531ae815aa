"""Routes for a wallet: with the transactions of each leg, or the reason why there are none."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import structlog

from adapters.transactions.payment_builders import PaymentBuilders
from api.domain.env import EnvMode
from api.domain.errors import ServiceUnavailable
from api.services.chains.screening import is_rejected
from api.services.chains.waiting_room import NoPlace
from api.services.execution.legs import RouteLeg, divide_route
from api.services.execution.offers import LegOffer, LegStatus, Untried
from api.services.execution.trying import LegTrials, Wallet
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import search_routes
from routing_engine import Side

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess
    from routing_engine import Market, Route

SIGNING_TIME = timedelta(minutes=20)
"""How long contracts accept what a wallet has signed; the route itself holds for a minute."""
PATIENCE_S = 5.0
"""How long a caller waits for the trials of all routes together."""
MOST_LEGS = 8
"""Legs of one route that are tried."""
SETTING = {EnvMode.LIVE: "RPC_URLS", EnvMode.TEST: "TEST_RPC_URLS"}

Offers = tuple[LegOffer, ...]

log = structlog.get_logger(__name__)


def find_executable_routes(
    resources: Resources,
    query: RouteQuery,
    env_mode: EnvMode,
    *,
    has_key: bool,
    stopwatch: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Return the best route, with `alternatives` if they were asked for, each with the legs that a wallet sends.

    Parameters
    ----------
    query : RouteQuery
        With payer and recipient.
    env_mode : EnvMode
        On whose chains it is tried.
    has_key : bool
        Whether the caller has a key; strangers are admitted apart.
    stopwatch : callable
        Monotonic seconds.

    Raises
    ------
    RouteNotFound
        If there is no route.
    """
    found = search_routes(resources, query)
    ends = stopwatch() + PATIENCE_S
    desk = open_desk(resources, query, env_mode, has_key=has_key)
    for body, route in zip((found.body, *found.body.get("alternatives", ())), found.result.routes, strict=False):
        body["legs"] = desk.describe_legs(route, found.snapshot.markets, body["expiresAt"], ends - stopwatch())
    return found.body


def open_desk(resources: Resources, query: RouteQuery, env_mode: EnvMode, *, has_key: bool) -> Desk:
    """Return who has legs tried for the wallet of a query; see `find_executable_routes`."""
    access = resources.chain_access.get(env_mode)
    wallet = Wallet(
        payer=query.payer,
        recipient=query.recipient,
        side=Side(query.request.side),
        slippage_bps=query.slippage_bps,
    )
    return Desk(
        resources=resources,
        env_mode=env_mode,
        wallet=wallet,
        access=access,
        builders=_load_builders() if access is None else access.builders,
        rejected=_refuse_rejected(resources, wallet, has_key=has_key),
        has_key=has_key,
    )


@cache
def _load_builders() -> PaymentBuilders:
    """Return who builds calls, where no chain is there to try them on: which legs a route has does not depend on it."""
    return PaymentBuilders.load()


def _refuse_rejected(resources: Resources, wallet: Wallet, *, has_key: bool) -> Untried | None:
    """Return why nothing is built for a wallet, where the operator's screen has a say."""
    try:
        if is_rejected(resources.screen, resources.lobby.enter(int(has_key)), *{wallet.payer, wallet.recipient}):
            return Untried(LegStatus.WALLET_REJECTED, "Nothing is built for this payer or recipient")
    except ServiceUnavailable:
        return Untried(LegStatus.NO_ANSWER, "The check of addresses does not answer; ask again")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Has the legs of routes tried for one wallet.

    Parameters
    ----------
    access : ChainAccess or None
        To the environment's real chains, where it has any.
    builders : PaymentBuilders
        Who builds calls, and says which legs a route has.
    rejected : Untried or None
        Why nothing is built for this wallet.
    """

    resources: Resources
    env_mode: EnvMode
    wallet: Wallet
    access: ChainAccess | None
    builders: PaymentBuilders
    rejected: Untried | None
    has_key: bool

    def describe_legs(
        self, route: Route, markets: Mapping[str, Market], valid_until: str, patience_s: float
    ) -> list[dict[str, Any]]:
        """Return the legs of a route as the interface shows them.

        Parameters
        ----------
        markets : mapping of str to Market
            Those of the snapshot that was searched, by id.
        valid_until : str
            Moment until which the route holds.
        patience_s : float
            How long the caller waits for trials.
        """
        offers = self._offer_legs(divide_route(route, markets, self.builders), patience_s)
        return [offer.describe(self.wallet.slippage_bps, valid_until) for offer in offers]

    def _offer_legs(self, legs: tuple[RouteLeg, ...], patience_s: float) -> Offers:
        """Return what is offered of each leg; those that begin the route are tried."""
        refused = {leg: reason for leg in legs if (reason := self._find_obstacle(leg)) is not None}
        first = tuple(leg for leg in legs if leg not in refused)
        offers = dict(zip(first, self._try_legs(first, patience_s), strict=True)) if first else {}
        for leg, reason in refused.items():
            offers[leg] = self.wallet.make_offer(leg, reason.status, reason.message)
        return tuple(offers[leg] for leg in legs)

    def _find_obstacle(self, leg: RouteLeg) -> Untried | None:
        """Return why a leg need not even be tried."""
        chain_id = leg.token_in.chain_id
        if not leg.is_buildable:
            protocols = self.resources.market.router.graph.protocols
            return Untried(LegStatus.NO_BUILDER, _name_builders(leg, self.builders, protocols))
        if self.access is None and self.resources.is_simulated(self.env_mode):
            message = "The test environment has simulated chains, on which no wallet signs anything"
            return Untried(LegStatus.CHAINS_SIMULATED, message)
        if self.access is None or chain_id not in self.access.chains:
            setting = SETTING[self.env_mode]
            message = f"Chain {chain_id} is not connected in the {self.env_mode} environment ({setting})"
            return Untried(LegStatus.CHAIN_NOT_CONNECTED, message)
        if self.rejected is not None:
            return self.rejected
        if not leg.is_first:
            message = (
                "It spends what an earlier leg brings, so it can't be tried yet: once that has arrived, ask for routes"
                f" from {leg.token_in.address} on chain {chain_id}"
            )
            return Untried(LegStatus.AFTER_EARLIER_LEG, message)
        return None

    def _try_legs(self, legs: tuple[RouteLeg, ...], patience_s: float) -> Offers:
        """Have legs tried that begin on the same chain, in a thread that nobody waits long for."""
        if self.access is None:
            raise TypeError("without chains nothing can be tried")
        chain_id = legs[0].token_in.chain_id
        deadline = math.ceil((self.resources.clock.now() + SIGNING_TIME).timestamp())
        trials = self.access.trials.choose(has_key=self.has_key)
        ask = partial(_try_all, self.access, self.wallet, legs, deadline)
        try:
            with self.resources.lobby.enter(int(self.has_key)):
                inquiry = trials.begin(chain_id, (self.wallet, legs), ask) if patience_s > 0 else None
                found: Offers | None = trials.wait(inquiry, patience_s) if inquiry else None
        except NoPlace:
            inquiry, found = None, None
        if found is not None:
            return found
        status, message = LegStatus.BUSY, "Too many routes are tried on this chain just now; ask again"
        if patience_s <= 0:
            status, message = LegStatus.NOT_TRIED, "The routes before it took all the time; ask for fewer alternatives"
        elif inquiry is not None:
            status, message = LegStatus.NO_ANSWER, "The chain or the bridge does not answer; ask again"
        return tuple(self.wallet.make_offer(leg, status, message) for leg in legs)


def _try_all(access: ChainAccess, wallet: Wallet, legs: tuple[RouteLeg, ...], deadline: int) -> Offers | None:
    """Try legs one after the other, as long as somebody may still wait for it."""
    trials = LegTrials(access=access, wallet=wallet, deadline=deadline)
    ends = time.monotonic() + PATIENCE_S
    offers: list[LegOffer] = []
    try:
        for number, leg in enumerate(legs):
            if number < MOST_LEGS and time.monotonic() < ends:
                offers.append(trials.try_leg(leg))
            else:
                message = f"At most {MOST_LEGS} legs are tried, within {PATIENCE_S:.0f} s; ask with fewer maxSplits"
                offers.append(wallet.make_offer(leg, LegStatus.NOT_TRIED, message))
    except Exception:  # builders and bridges may be anybody's: what fails in them is offered to nobody
        log.exception("route_not_tried", chain_id=legs[0].token_in.chain_id)
        return None
    return tuple(offers)


def _name_builders(leg: RouteLeg, builders: PaymentBuilders, protocols: Collection[str]) -> str:
    """Say that nobody builds a leg, and what to ask for instead, of the names that this market has."""
    families = (builders.list_families(leg.token_in.chain_id, crosses_chains=each) for each in (False, True))
    built = {name for family in families for each in family for name in each}
    named = sorted(built.intersection(protocols))
    used = ", ".join(dict.fromkeys(planned.hop.protocol for planned in leg.hops))
    remedy = f'ask with "allowProtocols": {json.dumps(named)}' if named else "nor over any other of this market there"
    return f"Nobody builds a transaction over {used}; {remedy}"
