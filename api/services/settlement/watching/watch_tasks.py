"""One task for each chain: whichever hangs, the others are looked at in time, and an idle one costs little.

Each has a lease of its own, so that chains spread over workers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from sqlalchemy import bindparam, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.domain.payments import PaymentState
from api.services.resources import Resources
from api.services.settlement.watching.endpoint_notes import EndpointNotes
from api.services.settlement.watching.progress import Progress
from api.services.settlement.watching.stillness import list_still
from api.services.settlement.watching.watched_chain import ChainGroup
from api.services.settlement.watching.watcher import look
from api.storage.fault_names import name_fault
from api.storage.fencing import LeaseLost
from api.storage.statements import Statement
from api.storage.tables import Payment

REQUESTS_A_MINUTE = 58
"""What an idle chain may cost on average."""
USUAL_COST = 2.0
"""HTTP requests of a look that finds new blocks and nothing in them: the head, and the blocks."""
SMOOTHING = 0.2
"""Weight of the last look in the average: one that compares endpoints must not make the next one late."""
LOOK_S = 1.0
"""Between the starts of two looks, where they cost little or payments wait for confirmations."""
FOUND_S = 0.05
"""Before the next look once something was found: what counts at once counts in the look after the one that found it."""
LONGEST_S = 10.0
END_S = 2.0
"""How long handing over waits for looks; what a later one writes is refused."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How one look at a chain went.

    Parameters
    ----------
    cost : float
        HTTP requests of a look, on a moving average.
    took_s : float
        Seconds.
    is_behind, has_found, is_waiting : bool
        Whether there are blocks left to read, whether it found transfers, and whether payments wait for confirmations.
    is_hurried : bool
        Whether the look before found something: on a busy chain each one does.
    """

    cost: float
    took_s: float
    is_behind: bool = False
    has_found: bool = False
    is_waiting: bool = False
    is_hurried: bool = False

    @property
    def pause_s(self) -> float:
        """Seconds until the next look: less while something goes on, else what the cost allows."""
        if self.is_behind:
            return 0.0
        if self.has_found and self.is_waiting and not self.is_hurried:
            return FOUND_S
        period_s = LOOK_S if self.is_waiting else max(LOOK_S, self.cost * 60 / REQUESTS_A_MINUTE)
        return max(FOUND_S, min(period_s, LONGEST_S) - self.took_s)


class ChainTask:
    """A worker's job for some chains: looks at one after the other, again and again, in a thread of its own.

    Parameters
    ----------
    group : ChainGroup
        Which chains.
    """

    def __init__(self, group: ChainGroup) -> None:
        self._env_mode, self._chain_ids = group.env_mode, group.chain_ids
        self._notes = {chain_id: EndpointNotes() for chain_id in group.chain_ids}
        self._cost = dict.fromkeys(group.chain_ids, USUAL_COST)
        self._lost: LeaseLost | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def run(self, resources: Resources) -> None:
        """Begin, unless that goes on already; or anew, if it ended.

        Raises
        ------
        LeaseLost
            If a look found that the chains are somebody else's.
        """
        if self._lost is not None:
            raise self._lost
        if self._thread is None or not self._thread.is_alive():
            name = f"chain-{self._env_mode}-{'-'.join(map(str, self._chain_ids))}"
            # A thread that hangs in a chain's answer must not keep a process alive that is told to end.
            self._thread = threading.Thread(
                target=self._go_on, args=(resources, self._stopping), name=name, daemon=True
            )
            self._thread.start()

    def end(self) -> None:
        """Begin no more looks; wait a moment for the one that goes on."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(END_S)
        self._lost, self._stopping, self._thread = None, threading.Event(), None

    def _go_on(self, resources: Resources, stopping: threading.Event) -> None:
        progress, pause_s = {chain_id: Progress() for chain_id in self._chain_ids}, 0.0
        while not stopping.wait(pause_s):
            try:
                pause_s = self._look_at_all(resources, progress)
            except LeaseLost as lost:
                self._lost = None if stopping.is_set() else lost
                return
            except (OperationalError, PoolTimeout) as error:
                log.warning("database_unavailable", env_mode=self._env_mode, kind=name_fault(error))
                pause_s = LOOK_S
            except Exception:  # one chain's trouble must not end its task for good
                log.exception("look_failed", env_mode=self._env_mode)
                pause_s = LOOK_S

    def _look_at_all(self, resources: Resources, progress: Mapping[int, Progress]) -> float:
        """Look at the chains that need it; return the seconds until the next time."""
        still = list_still(resources, self._env_mode, resources.ledgers[self._env_mode], self._chain_ids)
        moving = [each for each in self._chain_ids if each not in still]
        return min((self._look(resources, each, progress[each]).pause_s for each in moving), default=LOOK_S)

    def _look(self, resources: Resources, chain_id: int, progress: Progress) -> Look:
        ledger = resources.ledgers[self._env_mode]
        started, sent = time.monotonic(), ledger.count_requests(chain_id)
        past = self._cost[chain_id]
        is_hurried = progress.has_found
        progress.begin()
        is_read = look(resources, self._env_mode, ledger, chain_id, progress)
        self._notes[chain_id].write(resources, self._env_mode, chain_id)
        requests = ledger.count_requests(chain_id) - sent
        if progress.has_found or progress.is_behind:
            cost = past  # what an idle look costs can't be seen in this one
        else:
            cost = self._cost[chain_id] = past + SMOOTHING * (requests - past)
        return Look(
            cost=cost,
            took_s=time.monotonic() - started,
            is_behind=is_read and progress.is_behind,
            has_found=progress.has_found,
            is_waiting=self._is_waiting(resources, chain_id),
            is_hurried=is_hurried,
        )

    def _is_waiting(self, resources: Resources, chain_id: int) -> bool:
        with resources.database.look() as connection:
            values = {"chain_id": chain_id, "env_mode": self._env_mode}
            return bool(_WAITING.fetch(connection, values))


_WAITING = Statement(
    select(Payment.id)
    .where(
        Payment.state == PaymentState.SEEN,
        Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
        Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
    )
    .limit(1)
)
