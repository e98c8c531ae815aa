"""The operator's command for what customers see of a vendor."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.support import ENV_MODES, echo, open_resources


@click.command("brand")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--name", "display_name", help="Name to show instead of the vendor's own.")
@click.option("--accent", "accent_color", help="Colour of buttons and links, such as '#3346d3'.")
@click.option("--support", help="E-mail address or https URL where customers get help.")
@click.option("--logo", help="File of a PNG, JPEG or WebP; '' takes it away.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def brand(vendor: str, env_mode: str, logo: str | None, as_json: bool, **given: str | None) -> None:
    """Show what customers see of VENDOR (id or name), and change what is given; '' takes a choice back."""
    texts = {name: text for name, text in given.items() if text is not None}
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.vendors.brands import change_brand, read_brand
        from api.services.vendors.vendors import find_vendor

        picture, mode, now = _read_logo(logo), EnvMode(env_mode), resources.clock.now()
        with resources.database.write() as session:
            found = find_vendor(session, vendor)
            if texts or picture is not None:
                shown = change_brand(session, found.id, mode, texts, picture, now)
            else:
                shown = read_brand(session, found.id, mode)
    values = {
        "vendor_id": found.id,
        "name": shown.display_name or found.name,
        "accent": shown.accent_color,
        "support": shown.support,
        "logo": shown.logo_file,
    }
    echo(values, as_json)


def _read_logo(file: str | None) -> bytes | None:
    """Return what is in a file, as far as it takes to see that it is too large; no bytes for ''."""
    from api.domain.pictures import MAX_BYTES

    if not file:
        return None if file is None else b""
    try:
        with Path(file).open("rb") as source:
            content = source.read(MAX_BYTES + 1)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error
    if not content:
        raise click.ClickException(f"{file}: The file is empty")
    return content
