"""The operator's commands for payments that no order claims."""

from __future__ import annotations

import json

import click

from api.cli_support import ENV_MODES, operator


@click.group()
def payments() -> None:
    """Look after payments that belong to no order."""


@payments.command("unmatched")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def unmatched(env_mode: str, as_json: bool) -> None:
    """List the payments that belong to no order, and those that counted and were lost by their chain."""
    with operator() as context:
        from api.domain.env import EnvMode
        from api.services.unmatched import list_unmatched

        with context.database.read() as session:
            rows = list_unmatched(session, EnvMode(env_mode))
    for row in rows:
        click.echo(json.dumps(row) if as_json else "  ".join(row.values()))
    if not rows:
        click.echo("Every payment belongs to an order, and is on its chain.", err=True)


@payments.command("assign")
@click.argument("payment_id", type=click.IntRange(min=1))
@click.argument("order_id")
def assign(payment_id: int, order_id: str) -> None:
    """Credit the payment PAYMENT_ID to the order ORDER_ID."""
    with operator() as context:
        from api.services import unmatched as service

        with context.database.write() as session:
            status = service.assign(session, payment_id, order_id, context.clock.now())
    click.echo(f"Payment {payment_id} belongs to {order_id}, which is {status}.")
