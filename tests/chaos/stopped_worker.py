"""A worker that stops itself at the worst moment, and tells what became of its write once it is continued.

Run as ``python -m tests.chaos.stopped_worker MOMENT`` with MOMENT ``before`` or ``within`` a transaction.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime

from sqlalchemy.exc import DBAPIError

from api.domain.duties import Duty
from api.storage.db import Database
from api.storage.fencing import Fence, LeaseLost
from api.storage.tables import JobSlot
from api.worker.leases import Leases


def main() -> None:
    database, moment = Database(os.environ["DATABASE_URL"]), sys.argv[1]
    (token,) = Leases(database).keep([Duty.CHAINS]).values()
    fenced = database.fenced(Fence(duty=Duty.CHAINS, token=token))
    if moment == "before":
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        with fenced.write() as session:
            session.add(JobSlot(job="late", slot=1, taken_at=datetime.now(UTC)))
            session.flush()
            if moment == "within":
                os.kill(os.getpid(), signal.SIGSTOP)
        print("written", flush=True)
    except (LeaseLost, DBAPIError) as error:
        print("refused", type(error).__name__, flush=True)


if __name__ == "__main__":
    main()
