"""Which versions of the service work on a schema: so that old processes go on while new ones take their place.

Each migration says with `oldest` which revision's code still works once it has run: an earlier one where it only adds,
its own where it takes something away. The database keeps that, for code that is older than its migrations.
"""

from __future__ import annotations

from dataclasses import dataclass

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, delete, insert, inspect, select

from api.storage.tables import SchemaCompatibility


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The schema of a database, seen by this version.

    Parameters
    ----------
    found : str or None
        The database's revision; None for an empty one.
    wanted : str
        The newest that this version knows.
    oldest : str or None
        The oldest version that works on a schema newer than this one; None where nothing is said of it.
    """

    found: str | None
    wanted: str
    oldest: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether this version works on it."""
        if self.found is None or self.found <= self.wanted:
            return self.found == self.wanted
        return self.oldest is not None and self.oldest <= self.wanted

    def explain(self) -> tuple[str, str]:
        """Say of the database what is wrong, and the remedy."""
        if self.found is not None and self.found > self.wanted:
            return (
                f"is at revision {self.found}, for which this version, {self.wanted}, is too old",
                "install the newer one",
            )
        if self.found is None:
            remedy = (
                "run `checkout db upgrade` if it is new; if there have been orders, end all processes and restore it"
            )
            return f"is empty, this version needs revision {self.wanted}", remedy
        return f"is at revision {self.found}, this version needs {self.wanted}", "run `checkout db upgrade`"

    def describe(self) -> str:
        """Say the same in a sentence."""
        return "The database {}: {}".format(*self.explain())


def read_state(engine: Engine, wanted: str) -> SchemaState:
    """Read what the database has."""
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        if found is None or found <= wanted:
            return SchemaState(found=found, wanted=wanted)
        said = select(SchemaCompatibility.oldest).where(SchemaCompatibility.revision == found)
        return SchemaState(found=found, wanted=wanted, oldest=connection.scalar(said))


def find_oldest(scripts: ScriptDirectory, revision: str) -> str:
    """Return the oldest revision whose code works on the schema of another."""
    return max(getattr(script.module, "oldest", script.revision) for script in scripts.walk_revisions("base", revision))


def record_oldest(connection: Connection, scripts: ScriptDirectory) -> None:
    """Write into the database what its migrations say of earlier versions."""
    found = MigrationContext.configure(connection).get_current_revision()
    if found is None or not inspect(connection).has_table(SchemaCompatibility.__tablename__):
        return
    connection.execute(delete(SchemaCompatibility))
    connection.execute(insert(SchemaCompatibility).values(revision=found, oldest=find_oldest(scripts, found)))
