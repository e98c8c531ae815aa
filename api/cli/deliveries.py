"""The operator's commands for webhooks: which there are, what came of them, and sending it again."""

from __future__ import annotations

import click

from api.cli.support import ENV_MODES, echo_table, open_resources

WEBHOOK_COLUMNS = ("webhook_id", "state", "since", "host", "events")
DELIVERY_COLUMNS = ("delivery_id", "event", "status", "attempts", "last_answer", "next_attempt_at", "created_at")
STATUSES = click.Choice(["pending", "delivered", "failed", "cancelled"])


@click.command("list")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def webhooks_list(vendor: str, env_mode: str, as_json: bool) -> None:
    """List the webhooks of VENDOR (id or name), and since when one takes nothing; for the operator.

    Addresses are left out but for their hosts: they may hold a secret of the receiver.
    """
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.vendors.vendors import find_vendor
        from api.services.webhooks.operated import list_webhooks

        with resources.database.read() as session:
            rows = list_webhooks(session, find_vendor(session, vendor).id, EnvMode(env_mode))
    echo_table(rows, WEBHOOK_COLUMNS, as_json=as_json)


@click.command("deliveries")
@click.argument("webhook")
@click.option("--status", type=STATUSES, help="Only those of one status; failed and cancelled ones were given up.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def webhooks_deliveries(webhook: str, status: str | None, limit: int, as_json: bool) -> None:
    """Show what was sent to WEBHOOK (ep_…): state, attempts, last answer, next try; for the operator, newest first.

    Attempts are those since a delivery was last sent anew, by `redeliver` here or the vendor's own.
    """
    with open_resources() as resources:
        from api.services.webhooks.operated import list_deliveries
        from api.services.webhooks.outbox import DeliveryStatus

        with resources.database.read() as session:
            rows = list_deliveries(session, webhook, None if status is None else DeliveryStatus(status), limit)
    echo_table(rows, DELIVERY_COLUMNS, as_json=as_json)


@click.command("redeliver")
@click.argument("delivery", required=False)
@click.option("--failed", "webhook", help="Send all again that was given up for this webhook (ep_…).")
def webhooks_redeliver(delivery: str | None, webhook: str | None) -> None:
    """Send DELIVERY again, or all that was given up for a webhook; for the operator.

    Each event keeps its id, and has a fresh schedule of retries. The same command again sends nothing twice that is
    still on its way.
    """
    if (delivery is None) == (webhook is None):
        raise click.UsageError("Give either a delivery or --failed.")
    with open_resources() as resources:
        from api.services.webhooks.operated import redeliver, redeliver_failed

        if delivery is not None:
            redeliver(resources, delivery)
            click.echo(f"{delivery} is on its way again.")
            return
        sent = 0
        for each, passed_over in redeliver_failed(resources, webhook or ""):
            sent += not passed_over
            if passed_over:
                click.echo(f"{each} was passed over: {passed_over}", err=True)
        click.echo(f"{sent} deliveries are on their way again.")
