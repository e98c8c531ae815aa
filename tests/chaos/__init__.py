"""The service, its processes and the ways between them, broken while orders are paid."""

import gc

from api.cli import COLLECT_AFTER

gc.set_threshold(COLLECT_AFTER)  # also in the programs of this package, which import as much as the service's processes
