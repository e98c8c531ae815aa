"""How much room PostgreSQL has, where that can be seen from here; `settings` looks at this service's own disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from api.services.operations.doctor.findings import Finding, blame, praise
from api.services.operations.doctor.settings import LEAST_FREE
from api.services.operations.writing import explain_fault, find_room_fault
from api.services.resources import Resources

DISK = "disk"
USUAL_FOLDER = Path("/var/lib/postgresql")
"""Of Debian's packages: only a superuser of the database, and its monitors, are told where its data is."""
MORE_ROOM = "make room, or give it a larger disk: docs/capacity.md says what a month needs"
UNTOLD = "`GRANT pg_read_all_settings` to the service's role, and this looks where it really is"
_FOLDER = text("SELECT setting FROM pg_settings WHERE name = 'data_directory'")


def check_room(resources: Resources) -> Iterator[Finding]:
    """Say how full PostgreSQL's disk is, or that this can't be seen from here."""
    url = resources.database.engine.url
    if url.get_backend_name() == "sqlite":
        return
    told = _ask_folder(resources) if is_local(url) else None
    folder = next(filter(_is_there, filter(None, (told, USUAL_FOLDER))), None) if is_local(url) else None
    fault = find_room_fault(resources)
    if folder is None and fault:
        yield blame(DISK, f"PostgreSQL {explain_fault(fault)[0]}", f"{MORE_ROOM}, on its machine")
        return
    if folder is None:
        yield praise(DISK, "how full PostgreSQL's is can't be seen from here: watch it on its machine")
        return
    room = shutil.disk_usage(folder)
    place = "is" if folder == told else f"usually is; {UNTOLD}"
    message = f"{room.free // 2**20:,} of {room.total // 2**20:,} MB are free where PostgreSQL {place} ({folder})"
    if fault:
        yield blame(DISK, f"PostgreSQL {explain_fault(fault)[0]}, though {message}", MORE_ROOM)
    elif room.free < LEAST_FREE:
        yield blame(DISK, message, MORE_ROOM)
    else:
        yield praise(DISK, message)


def is_local(url: URL) -> bool:
    """Return whether every server that an address names is this machine, as far as the names tell."""
    named = url.query.get("host", ())
    hosts = [host.rsplit(":", 1)[0] for host in ((named,) if isinstance(named, str) else named)]
    return all(map(_is_this_machine, [*hosts, *([url.host] if url.host else [])]))


def _is_this_machine(host: str) -> bool:
    if host.startswith("/"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _ask_folder(resources: Resources) -> Path | None:
    """Return the folder of the data; None where it is not told, as by a database that does not answer."""
    try:
        with resources.database.read() as session:
            told = session.scalar(_FOLDER)
    except SQLAlchemyError:
        return None
    return Path(told) if told else None


def _is_there(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False
