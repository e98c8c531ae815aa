"""What must hold before the service starts."""

from __future__ import annotations

from api.config import ConfigError
from api.services.operations.stored_secrets import require_keys
from api.services.resources import Resources
from api.services.vendors.owned_addresses import find_disagreements
from api.storage import migrations


def check_start(resources: Resources) -> None:
    """Refuse to start where the database says something that the settings contradict.

    A database of another schema is left to ``/readyz`` and the commands that ask for it.

    Raises
    ------
    SecretKeyFault
        If secrets can't be decrypted.
    ConfigError
        If an account or an open order receives at an address that is not its vendor's.
    """
    engine = resources.database.engine
    if not migrations.check_schema(engine).is_usable:
        return
    with resources.database.read() as session:
        require_keys(session, resources.config)
        disagreements = find_disagreements(session)
    if disagreements:
        raise ConfigError(
            "Settlement addresses belong to one vendor and one environment each, but the database says otherwise: "
            f"{'; '.join(disagreements)}. Set such accounts again with `checkout settlement set`, each at an address "
            "of its own, and cancel such orders"
        )
