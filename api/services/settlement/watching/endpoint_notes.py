"""How each endpoint of a chain fares, written down for those who measure: a worker has no address to be asked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import EndpointState
from api.services.resources import Resources
from api.storage.tables import WatchedEndpoint

NOTE_EVERY = timedelta(seconds=30)
"""How often endpoints are compared, so what is known of them is hardly ever newer."""
HOLDS_FOR = timedelta(minutes=3)
"""How long a note says how an endpoint fares; after that nobody asks it any more."""
LONGEST_HOST = 255

log = structlog.get_logger(__name__)


class EndpointNotes:
    """What one worker has written of the endpoints of one chain: each change at once, else now and then."""

    def __init__(self) -> None:
        self._written: tuple[EndpointState, ...] = ()
        self._written_at: datetime | None = None

    def write(self, resources: Resources, env_mode: EnvMode, chain_id: int) -> None:
        """Write down how the endpoints fare now, if that is news."""
        states, now = tuple(resources.ledgers[env_mode].list_endpoints(chain_id)), resources.clock.now()
        is_old = self._written_at is None or now - self._written_at >= NOTE_EVERY
        if states == self._written and not (states and is_old):
            return
        with resources.database.write() as session:
            _replace(session, env_mode, chain_id, states, now)
        for place, state in enumerate(states):
            before = self._written[place] if place < len(self._written) else None
            _tell(state, before, env_mode, chain_id)
        self._written, self._written_at = states, now


def _tell(state: EndpointState, before: EndpointState | None, env_mode: EnvMode, chain_id: int) -> None:
    """Log an endpoint that has gone or fallen out of step, and one that is back; of the first look only what is bad."""
    event, known = _name(state), _name(before) if before else "endpoint_is_back"
    if event != known:
        say = log.info if event == "endpoint_is_back" else log.warning if state.is_of_chain else log.error
        say(event, env_mode=env_mode, chain_id=chain_id, host=state.host)


def _name(state: EndpointState) -> str:
    """Name how an endpoint fares as the log does."""
    if not state.is_of_chain:
        return "endpoint_is_of_another_chain"
    if not state.answers:
        return "endpoint_is_away"
    return "endpoint_is_back" if state.in_step else "endpoint_is_out_of_step"


def _replace(
    session: Session, env_mode: EnvMode, chain_id: int, states: Sequence[EndpointState], now: datetime
) -> None:
    """Put these in the place of what was written of a chain; one that is configured no more is gone by that."""
    session.execute(
        delete(WatchedEndpoint).where(WatchedEndpoint.env_mode == env_mode, WatchedEndpoint.chain_id == chain_id)
    )
    session.add_all(
        WatchedEndpoint(
            env_mode=env_mode,
            chain_id=chain_id,
            place=place,
            host=state.host[:LONGEST_HOST],
            answers=state.answers,
            in_step=state.in_step,
            is_of_chain=state.is_of_chain,
            noted_at=now,
        )
        for place, state in enumerate(states, start=1)
    )


def list_noted(resources: Resources, session: Session) -> Mapping[tuple[str, int, int], EndpointState]:
    """Return how endpoints fare of which that is known, by environment, chain and their place in the settings."""
    since = resources.clock.now() - HOLDS_FOR
    rows = session.scalars(select(WatchedEndpoint).where(WatchedEndpoint.noted_at >= since))
    connected = {(mode, each) for mode, ledger in resources.ledgers.items() for each in ledger.chain_ids}
    return {
        (row.env_mode, row.chain_id, row.place): EndpointState(
            host=row.host, answers=row.answers, in_step=row.in_step, is_of_chain=row.is_of_chain
        )
        for row in rows
        if (row.env_mode, row.chain_id) in connected
    }
