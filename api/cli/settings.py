"""The operator's command that lists the settings as this process would have them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from api.cli.support import echo_table
from api.setting_values import read_setting
from api.settings import SETTINGS

COLUMNS = ("setting", "value", "from")
HIDDEN = "(set; not shown)"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def settings(as_json: bool) -> None:
    """List every setting, its value here, and where that comes from.

    Values of secret settings are not shown. Whether they fit each other is said by `checkout doctor`.
    """
    echo_table(list(_list_values()), COLUMNS, as_json=as_json)


def _list_values() -> Iterator[dict[str, str | None]]:
    for setting in SETTINGS.values():
        given = read_setting(setting.name)
        value = given or setting.default or None
        if setting.is_secret and given:
            value = HIDDEN
        yield {"setting": setting.name, "value": value, "from": "environment" if given else "default"}
