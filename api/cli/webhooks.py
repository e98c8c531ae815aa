"""An integrator's commands for webhooks, over HTTP; the operator's are in `deliveries.py`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlsplit

import click

from api.cli.deliveries import webhooks_deliveries, webhooks_list, webhooks_redeliver
from api.cli.http import ServiceAway, ServiceClient, service_options
from api.cli.waiting import Interruption, pause


@click.group()
def webhooks() -> None:
    """Try a receiver of webhooks, with a test key; or see, as the operator, what comes of any vendor's."""


for each in (webhooks_deliveries, webhooks_list, webhooks_redeliver):
    webhooks.add_command(each)


@webhooks.command("listen")
@click.option("--forward-to", help="Address of your receiver, such as localhost:3000/webhooks.")
@click.option("--events", default="", help="Only these types, with commas between, such as payment_success.")
@click.option("--print-secret", is_flag=True, help="Print the secret that signs, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@service_options
def webhooks_listen(
    url: str, key: str | None, forward_to: str | None, events: str, print_secret: bool, as_json: bool
) -> None:
    """Forward the new events of the test environment to your machine, until Ctrl-C.

    They are signed as webhooks are, with a secret that stays the same for an API key.
    """
    from api.cli.listening import derive_secret, find_cursor, follow_events, forward, is_wanted, write_lines

    client = _connect(url, key)
    secret = derive_secret(client.key)
    if print_secret:
        _check_key(client)
        click.echo(secret)
        return
    target, types = _read_target(forward_to), _read_types(events)
    since = find_cursor(client)
    with Interruption() as interruption:
        click.echo(f"Ready! Events go to {target}, signed with {secret} (Ctrl-C ends it)", err=as_json)
        for row in follow_events(client, since, interruption.pause):
            if is_wanted(row, types):
                done = forward(row, target, secret)
                shown = [json.dumps(_describe(done))] if as_json else write_lines(done, target)
                for line in shown:
                    click.echo(line)
    click.echo("Ended.", err=True)


@webhooks.command("trigger")
@click.argument("event")
@click.option("--webhook", help="Send a sample to this webhook (ep_…) alone, about an order that does not exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@service_options
def webhooks_trigger(url: str, key: str | None, event: str, webhook: str | None, as_json: bool) -> None:
    """Make the service send EVENT, such as payment_success, signed like every other.

    A test order is made and paid, cancelled or refunded, whatever the event tells of; all webhooks of the test
    environment hear of it, and `checkout webhooks listen` does.
    """
    from api.cli.triggering import SCENARIOS, trigger

    client = _connect(url, key)
    if webhook is not None:
        sent = client.post(f"/api/v1/webhook_subscription/{quote(webhook, safe='')}/test", {"type": event})
        found = {"event_id": sent["data"]["event_id"]}
    elif event in SCENARIOS:
        found = {"payment_order_id": trigger(client, event, pause)}
    else:
        raise click.UsageError(f"Expected one of {', '.join(SCENARIOS)}; others go to one --webhook as a sample.")
    click.echo(json.dumps(found) if as_json else f"{event} is on its way: {next(iter(found.values()))}")


def _connect(url: str, key: str | None) -> ServiceClient:
    client = ServiceClient(url, key)
    if client.env_mode != "test":
        raise click.ClickException("This is for the test environment: use a test key (sk_test_…)")
    return client


def _read_target(text: str | None) -> str:
    if not text:
        raise click.UsageError("Give --forward-to, such as --forward-to localhost:3000/webhooks.")
    target = text if "://" in text else f"http://{text}"
    parts = urlsplit(target)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise click.BadParameter("Expected an address such as localhost:3000/webhooks.", param_hint="--forward-to")
    return target


def _read_types(text: str) -> list[str]:
    """Read the types that are wanted; of one that does not exist nothing would ever come."""
    from api.domain.events import EventType

    types = [name for name in map(str.strip, text.split(",")) if name]
    if unknown := [each for each in types if each not in set(EventType)]:
        message = f"There is no type {', '.join(unknown)}; use any of {', '.join(EventType)}."
        raise click.BadParameter(message, param_hint="--events")
    return types


def _check_key(client: ServiceClient) -> None:
    """Refuse a key that does not work: what it signs with would be another secret than the listener's."""
    try:
        client.get("/api/v1/api_key")
    except ServiceAway as error:
        click.echo(f"Nobody knows whether this key works: {error.message}", err=True)


def _describe(done: Any) -> dict[str, Any]:
    return {
        "at": done.at.isoformat(),
        "event_id": done.event_id,
        "event": done.event,
        "status": done.status,
        "error": done.error,
        "duration_ms": done.duration_ms,
    }
