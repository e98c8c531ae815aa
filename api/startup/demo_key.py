"""The test key of the demo vendor, which stays the same however often `checkout up` is started.

The database has its hash alone, as of every key; the text is in a file of the data folder that only the service's own
account may read. No other key is kept like that: this one moves no money.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.vendors.key_management import rotate_key
from api.services.vendors.vendors import create_vendor, find_vendor
from api.storage.private_files import restrict_file, write_private_file

DEMO_VENDOR = "Demo shop"
FILE_NAME = "demo.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoKey:
    """The demo vendor's test key.

    Parameters
    ----------
    text : str
        The key.
    note : str
        Why it is another one than before; empty where it is not.
    """

    text: str = field(repr=False)
    note: str = ""


def keep_demo_key(resources: Resources) -> DemoKey:
    """Return the key of the last start, or where that works no more, a new one; the vendor is made if need be."""
    file = resources.config.data_dir / FILE_NAME
    restrict_file(file)
    kept = file.read_text(encoding="ascii", errors="replace").strip() if file.exists() else ""
    now = resources.clock.now()
    with resources.database.write() as session:
        found = find_key(session, kept, now)
        if found is not None and (found.vendor_name, found.env_mode) == (DEMO_VENDOR, EnvMode.TEST):
            return DemoKey(text=kept)
        try:
            vendor_id = find_vendor(session, DEMO_VENDOR).id
        except NotFound:
            made = DemoKey(text=create_vendor(session, DEMO_VENDOR, now).keys[EnvMode.TEST])
        else:
            why = f"that of {file} works no more" if kept else f"there was none in {file}"
            text = rotate_key(session, (vendor_id, EnvMode.TEST), now).text
            made = DemoKey(text=text, note=f"It is a new key: {why}. Put it where the old one is.")
    write_private_file(file, f"{made.text}\n", replace=True)
    return made
