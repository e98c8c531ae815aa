"""The operator's commands about the keys that encrypt secrets."""

from __future__ import annotations

import click

from api.cli.support import open_resources


@click.group()
def secrets() -> None:
    """Look after the keys that encrypt webhooks' secrets and stored answers."""


@secrets.command("rotate")
def secrets_rotate() -> None:
    """Encrypt everything with the first of SECRET_KEYS, or with a new key in DATA_DIR/secret.key."""
    with open_resources() as resources:
        from api.services.operations.stored_secrets import rotate_keys

        rotated = rotate_keys(resources.database, resources.config, resources.clock.now())
        click.echo(f"{rotated.count} secrets were encrypted anew; all are with the key {rotated.key_id} now.")
        click.echo(
            "Backups from before need the key before: keep it apart from them for as long as the oldest is kept.",
            err=True,
        )


@secrets.command("reset")
@click.confirmation_option(prompt="Every webhook whose secret is lost gets a new one. Go on?")
def secrets_reset() -> None:
    """Start over after keys were lost: webhooks get new secrets, which their vendors fetch with rotate_secret."""
    with open_resources() as resources:
        from api.services.operations.stored_secrets import reset_secrets

        count = reset_secrets(resources.database, resources.config, resources.clock.now())
        click.echo(f"{count} webhooks have a new secret; their vendors must POST to …/rotate_secret to learn one.")
