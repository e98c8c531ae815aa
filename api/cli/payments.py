"""The operator's commands for payments that no order claims."""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

from api.cli.shown_orders import write_price
from api.cli.support import ENV_MODES, echo_table, open_resources

COLUMNS = (
    "transfer_id", "reason", "vendor", "claimed_order_id", "chain_id", "transaction_hash", "whole", "amount",
    "token_address", "sender", "recipient", "mined_at",
)  # fmt: skip


@click.group()
def payments() -> None:
    """Look after payments that belong to no order."""


@payments.command("unmatched")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def unmatched(env_mode: str, as_json: bool) -> None:
    """List the payments that belong to no order, and those that counted and were lost by their chain."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.settlement.crediting.unmatched_transfers import list_unmatched

        with resources.database.read() as session:
            rows = list_unmatched(session, EnvMode(env_mode))
    echo_table(rows if as_json else [{**row, "whole": _write_whole(row)} for row in rows], COLUMNS, as_json=as_json)
    if not rows:
        click.echo("Every payment belongs to an order, and is on its chain.", err=True)


def _write_whole(row: Mapping[str, str]) -> str:
    """Write what came in whole tokens; nothing where the token is not listed, whose decimals nobody knows."""
    if not row["token_decimals"]:
        return ""
    return write_price({"amount": row["amount"], "decimals": row["token_decimals"], "currency": row["token_symbol"]})


@payments.command("assign")
@click.argument("transfer_id")
@click.argument("order_id")
def assign(transfer_id: str, order_id: str) -> None:
    """Credit the transfer TRANSFER_ID to the order ORDER_ID; its chain is asked about it once more."""
    with open_resources() as resources:
        from api.services.settlement.crediting import unmatched_transfers as service

        with resources.database.write() as session:
            order = service.assign(session, transfer_id, order_id, resources.clock.now())
    click.echo(f"Transfer {transfer_id} belongs to {order_id}, which is {order.status}.")


@payments.command("unassign")
@click.argument("transfer_id")
def unassign(transfer_id: str) -> None:
    """Take the transfer TRANSFER_ID away from the order that it was assigned to by mistake.

    Refused where that order has succeeded with it, where some of it goes back, and where it counts by evidence.
    """
    with open_resources() as resources:
        from api.services.settlement.crediting.unassigning import unassign as take_away

        with resources.database.write() as session:
            order = take_away(session, transfer_id, resources.clock.now())
    click.echo(f"Transfer {transfer_id} belongs to no order; {order.id} is {order.status}.")


@payments.command("rescan")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--chain", "chain_id", type=click.IntRange(min=1), required=True, help="Chain ID.")
@click.option("--from", "first", type=click.IntRange(min=0), help="First block.")
@click.option("--to", "last", type=click.IntRange(min=0), help="Last block.")
@click.option("--tx", "tx_hash", help="Transaction whose block is to be read, instead of --from and --to.")
def rescan(env_mode: str, chain_id: int, first: int | None, last: int | None, tx_hash: str | None) -> None:
    """Read blocks again and credit the payments in them that are missing; the worker may go on meanwhile."""
    is_range = first is not None and last is not None
    if (tx_hash is None) != is_range or (tx_hash is not None and (first, last) != (None, None)):
        raise click.UsageError("Give either --from and --to, or --tx.")
    if tx_hash is not None and not re.fullmatch("0x[0-9a-fA-F]{64}", tx_hash):
        raise click.BadParameter("Expected 0x and 64 hexadecimal digits.", param_hint="--tx")
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.settlement.watching import rescans

        env, found = EnvMode(env_mode), 0
        if tx_hash is not None:
            pieces = iter([rescans.rescan_transaction(resources, env, chain_id, tx_hash.lower())])
        else:
            pieces = rescans.rescan(resources, env, chain_id, first or 0, last or 0)
        for piece in pieces:
            found += len(piece.found)
            click.echo(f"Blocks {piece.first} to {piece.last}: {piece.transfers} transfers read.", err=True)
            if piece.doubtful:
                click.echo(f"  {piece.doubtful} of them are still in doubt; the worker goes on with them.", err=True)
            for each in piece.found:
                click.echo(each)
    click.echo(f"{found} transactions had been missed." if found else "Nothing had been missed.", err=True)
