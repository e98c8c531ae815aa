"""A service on SQLite whose files may not grow any more, and then may again; prints what came of it as JSON.

Run as ``python -m tests.chaos.full_disk FOLDER``. A limit of the process takes the disk's place: it needs no rights,
and writing fails in the same place.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from flask.testing import FlaskClient

from api.app import build_app
from api.config import Config
from api.context import build_resources
from api.domain.env import EnvMode
from api.secrets.keys import make_key
from api.services.operations.doctor.database import check_database
from api.services.vendors.vendors import create_vendor
from api.storage.migrations import upgrade
from tests.support.shop import LINK

BEFORE = 10
REFUSED = 15
MOST = 3_000


@dataclass
class Told:
    """What a seller was answered; `acknowledged` are orders by key."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    without_remedy: int = 0
    statuses: Counter[int] = field(default_factory=Counter)


def sell(client: FlaskClient, key: str, cart: str, told: Told) -> None:
    """Ask for an order once."""
    headers = {"X-Api-Key": key, "Idempotency-Key": cart}
    answer = client.post("/api/v1/payment_link", json=LINK, headers=headers)
    told.statuses[answer.status_code] += 1
    if answer.status_code == 200:
        told.acknowledged[cart] = answer.get_json()["payment_order_id"]
    else:
        told.refused.append(cart)
        told.without_remedy += "Retry-After" not in answer.headers


def main() -> None:
    """Sell until nothing more goes in, read, make room, and sell what was refused."""
    folder = Path(sys.argv[1])
    file = folder / "checkout.db"
    config = Config(
        data_dir=folder, database_url=f"sqlite:///{file}", secret_keys=(make_key(),), rate_limit_key=1_000_000
    )
    resources = build_resources(config)
    upgrade(resources.database.engine)
    with resources.database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    client, told = build_app(resources).test_client(), Told()
    for number in range(BEFORE):
        sell(client, key, f"before-{number}", told)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(path.stat().st_size for path in folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 300_000, hard))
    number = 0
    while len(told.refused) < REFUSED and number < MOST:
        sell(client, key, f"full-{number}", told)
        number += 1
    known = next(iter(told.acknowledged.values()))
    read = client.get(f"/api/v1/payment/{known}", headers={"X-Api-Key": key}).status_code
    during = dict(told.statuses)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    doctor = [each.message for each in check_database(resources) if each.about == "database"]
    ready = client.get("/readyz").get_json()["message"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    refused, told.refused = told.refused, []
    for cart in refused:
        sell(client, key, cart, told)
    resources.database.close()
    print(
        json.dumps(
            {
                "acknowledged": told.acknowledged,
                "during": during,
                "refused": len(refused),
                "refused_after": told.refused,
                "without_remedy": told.without_remedy,
                "read": read,
                "doctor": doctor,
                "ready": ready,
            }
        )
    )


if __name__ == "__main__":
    main()
