"""On which chains coin that a contract sends can't be seen, since no endpoint traces transactions."""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.storage.tables import WatchCursor

_BLIND = select(WatchCursor.chain_id).where(
    WatchCursor.env_mode == bindparam("env_mode"), WatchCursor.can_trace.is_(False)
)


def list_chains_without_traces(session: Session, env_mode: EnvMode) -> frozenset[int]:
    """Return the chains whose endpoints were asked for a trace lately and gave none."""
    return frozenset(session.scalars(_BLIND, {"env_mode": env_mode}))
