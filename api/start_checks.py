"""What must hold before the service starts."""

from __future__ import annotations

from api.context import Context
from api.services.stored_secrets import require_keys
from api.storage import migrations


def check_start(context: Context) -> None:
    """Refuse to start where the database says something that the settings contradict.

    A database of another schema is left to ``/readyz`` and the commands that ask for it.

    Raises
    ------
    SecretKeyFault
        If secrets can't be decrypted.
    """
    engine = context.database.engine
    if migrations.current_revision(engine) != migrations.latest_revision(engine):
        return
    with context.database.read() as session:
        require_keys(session, context.config)
