"""Which chains stand behind each environment."""

from __future__ import annotations

from collections.abc import Mapping

from api.context import Context
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.services.simulated_ledger import SimulatedLedger


def ledgers(context: Context) -> Mapping[EnvMode, Ledger]:
    """Return the ledger of each environment that has one.

    The live environment gets one when real chains can be connected; until then its orders say that nobody can pay them.
    """
    return {EnvMode.TEST: SimulatedLedger(context.database, context.clock)}


def ledger_for(context: Context, env_mode: EnvMode) -> Ledger | None:
    """Return an environment's ledger, or None where no chain is connected."""
    return ledgers(context).get(env_mode)
