"""The operator's commands for what was changed, by whom and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from api.cli.support import echo_table, open_resources

ACTIONS = click.Choice(
    [
        "vendor_created", "key_created", "key_rotated", "key_revoked", "settlement_set", "settlement_removed",
        "brand_changed", "webhook_created", "webhook_changed", "webhook_enabled", "webhook_deleted",
        "webhook_secret_rotated", "payment_assigned", "payment_unassigned", "refund_requested", "refund_cancelled",
        "metadata_changed", "blocks_rescanned", "secrets_rotated", "secrets_reset",
    ]
)  # fmt: skip
"""As `api.domain.audit` has them; written out, so that `--help` is fast."""
COLUMNS = ("at", "actor", "action", "vendor", "env_mode", "subject", "change")
MOMENTS = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


@click.group()
def audit() -> None:
    """See what operators and merchants changed."""


@audit.command("list")
@click.option("--vendor", help="Only what is of this vendor (id or name).")
@click.option("--action", "actions", type=ACTIONS, multiple=True, help="Only this; may be repeated.")
@click.option("--since", type=MOMENTS, help="Only since this day or moment, in UTC.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def audit_list(vendor: str | None, actions: tuple[str, ...], since: datetime | None, limit: int, as_json: bool) -> None:
    """List who changed what, the newest first; with several filters what has all."""
    with open_resources() as resources:
        from api.domain.audit import AuditAction, AuditFilter
        from api.services.audit import list_changes
        from api.services.vendors.vendors import find_vendor

        with resources.database.read() as session:
            wanted = AuditFilter(
                vendor_id=find_vendor(session, vendor).id if vendor is not None else None,
                actions=frozenset(map(AuditAction, actions)),
                since=None if since is None else since.replace(tzinfo=UTC),
            )
            rows = list_changes(session, wanted, limit + 1)
    shown = rows[:limit]
    echo_table(shown if as_json else [{**row, "change": _write_change(row)} for row in shown], COLUMNS, as_json=as_json)
    if len(rows) > limit:
        click.echo(f"There are older ones: --limit above {limit} shows them.", err=True)


def _write_change(row: Mapping[str, Any]) -> str:
    """Write what became otherwise, as `name: before → after`."""
    before, after = row["before"], row["after"]
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return ", ".join(f"{name}: {_write(before.get(name))} → {_write(after.get(name))}" for name in names)


def _write(value: Any) -> str:
    return "-" if value in (None, "") else value if isinstance(value, str) else json.dumps(value)
