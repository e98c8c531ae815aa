"""The command line of operators and integrators.

Commands import what they need when they run, so that `--help` is fast.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from api.cli.audit import audit
from api.cli.branding import brand
from api.cli.database import db
from api.cli.doctor import doctor
from api.cli.keys import keys
from api.cli.orders import links, orders
from api.cli.payments import payments
from api.cli.secrets import secrets
from api.cli.settings import settings
from api.cli.support import ENV_MODES, echo, echo_table, open_resources
from api.cli.webhooks import webhooks

if TYPE_CHECKING:
    from api.services.vendors.vendors import Account

ACCOUNT_COLUMNS = ("currency", "chain_id", "token_address", "token_decimals", "address")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run and administer the checkout service, and try an integration with it."""


for each in (audit, db, doctor, keys, links, orders, payments, secrets, settings, webhooks):
    main.add_command(each)


@main.group()
def vendors() -> None:
    """Make vendors, and choose their look."""


vendors.add_command(brand)


@vendors.command("create")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def vendors_create(name: str, as_json: bool) -> None:
    """Make the vendor NAME and print its keys, this once."""
    with open_resources() as resources:
        from api.services.vendors.vendors import create_vendor

        with resources.database.write() as session:
            vendor = create_vendor(session, name, resources.clock.now())
    keys = {f"{env_mode}_key": text for env_mode, text in vendor.keys.items()}
    echo({"vendor_id": vendor.vendor_id, "name": vendor.name, **keys}, as_json)
    click.echo("The keys are not shown again.", err=True)


@vendors.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def vendors_list(as_json: bool) -> None:
    """List all vendors."""
    with open_resources() as resources:
        from api.domain.clock import format_time
        from api.services.vendors.vendors import list_vendors

        with resources.database.read() as session:
            rows = [
                {"vendor_id": row.id, "name": row.name, "created_at": format_time(row.created_at)}
                for row in list_vendors(session)
            ]
    for row in rows:
        click.echo(json.dumps(row) if as_json else "  ".join(row.values()))


@main.group()
def settlement() -> None:
    """Say where vendors receive their money."""


@settlement.command("set")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--currency", required=True, help="Currency code that this account settles, such as USDC.")
@click.option("--chain", "chain_id", type=click.IntRange(min=1), required=True, help="Chain id.")
@click.option("--token", required=True, help="Symbol of a listed token, or its address on the chain.")
@click.option("--decimals", type=click.IntRange(0, 36), help="The token's decimals, for one that is not listed.")
@click.option("--address", required=True, help="Address that receives.")
def settlement_set(vendor: str, env_mode: str, decimals: int | None, **account: Any) -> None:
    """Receive a currency of VENDOR (id or name) in this token at this address."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.ledger.chain_ledger import connect_pools
        from api.services.vendors.settlement_accounts import check_account
        from api.services.vendors.vendors import find_vendor, set_account

        mode = EnvMode(env_mode)
        urls = resources.config.rpc_urls(mode)
        chains = None if resources.is_simulated(mode) else connect_pools(urls, mode, resources.clock)
        checked = check_account(decimals=decimals, screen=resources.screen, chains=chains, **account)
        with resources.database.write() as session:
            found = find_vendor(session, vendor)
            before = set_account(session, found.id, mode, checked, resources.clock.now())
    click.echo(f"{found.name}, {env_mode}: {checked.currency} is received {_write_place(checked)}.")
    if not _is_listed(checked):
        click.echo("That token is not listed: what its events tell counts as paid, so look at its code.", err=True)
    if before is not None and before != checked:
        click.echo(f"Before it was received {_write_place(before)}; orders made until now keep that.", err=True)
    if chains is not None and checked.chain_id not in chains:
        click.echo("That chain is not connected: links in this currency are refused until it is.", err=True)


def _write_place(account: Account) -> str:
    from api.services.routing.token_serializers import checksum
    from routing_engine.reference import token_registry

    info = token_registry.info_of(account.chain_id, account.token_address)
    token = info.symbol if info else checksum(account.token_address)
    return f"as {token} on chain {account.chain_id} at {checksum(account.address)}"


def _is_listed(account: Account) -> bool:
    from routing_engine.reference import token_registry

    return token_registry.info_of(account.chain_id, account.token_address) is not None


@settlement.command("remove")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--currency", required=True, help="Currency code of the account.")
def settlement_remove(vendor: str, env_mode: str, currency: str) -> None:
    """Take no new orders of VENDOR (id or name) in a currency; open ones keep their terms."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.vendors.vendors import find_vendor, remove_account

        with resources.database.write() as session:
            found = find_vendor(session, vendor)
            kept = remove_account(session, found.id, EnvMode(env_mode), currency, resources.clock.now())
    click.echo(f"Removed. {kept} open orders keep their terms; the address stays the vendor's and is watched on.")


@settlement.command("list")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def settlement_list(vendor: str, env_mode: str, as_json: bool) -> None:
    """List the accounts of VENDOR (id or name)."""
    with open_resources() as resources:
        from dataclasses import asdict

        from api.domain.env import EnvMode
        from api.services.routing.token_serializers import checksum
        from api.services.vendors.vendors import find_vendor, list_accounts

        with resources.database.read() as session:
            accounts = list_accounts(session, find_vendor(session, vendor).id, EnvMode(env_mode))
        rows = [{name: checksum(each) if name.endswith("address") else each for name, each in asdict(account).items()}
                for account in accounts]  # fmt: skip
    echo_table(rows, ACCOUNT_COLUMNS, as_json=as_json)


@main.command()
@click.option("--port", type=click.IntRange(1, 65_535), help="Port to listen on, instead of PORT.")
def serve(port: int | None) -> None:
    """Serve the API, the payment page and the stream."""
    if port is not None:
        os.environ["PORT"] = str(port)
    with open_resources(check_schema=False) as resources:
        from sqlalchemy.exc import OperationalError

        from api.counting.shared_metrics import share_metrics
        from api.startup.start_checks import check_start

        with suppress(OperationalError):  # it waits for its database, as `/readyz` says
            check_start(resources)
        resources.database.close()  # no connection may be open in two processes
        with share_metrics(resources.config.web_workers):
            from api.serving.server import serve as serve_http

            is_well = serve_http(resources.config)
    if not is_well:
        raise SystemExit(1)


@main.command()
def worker() -> None:
    """Deliver webhooks, watch payments and let orders expire."""
    with open_resources() as resources:
        from api.doubtful_settings import log_doubts
        from api.logs import configure_logging
        from api.startup.start_checks import check_start
        from api.worker.process import run_worker

        check_start(resources)
        configure_logging(resources.config.log_level)
        log_doubts(resources.config)
        run_worker(resources)


@main.command()
@click.option("--port", type=click.IntRange(1, 65_535), help="Port to listen on, instead of PORT.")
@click.option("--data-dir", help="Folder for the data, instead of DATA_DIR.")
def up(port: int | None, data_dir: str | None) -> None:
    """Start the whole service on this machine, ready to try."""
    os.environ.update({"PORT": str(port)} if port is not None else {})
    os.environ.update({"DATA_DIR": data_dir} if data_dir is not None else {})
    os.environ.setdefault("ALLOW_LOCAL_WEBHOOKS", "true")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    with open_resources(check_schema=False) as resources:
        from api.startup.up import run_all

        raise SystemExit(run_all(resources, lambda part: main([part])))
