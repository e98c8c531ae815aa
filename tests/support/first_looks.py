"""What a worker's first look at chains leaves, for shops of tests on chains that were put back to the same blocks."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from api.services.orders.expiry import expire_orders
from api.services.settlement.watching.watcher import watch
from api.storage.tables import WatchCursor
from tests.support.settlement import ChainShop

_WRITTEN: dict[frozenset[str], list[dict[str, Any]]] = {}
"""Rows of cursors, by the hashes of the newest blocks and the environments that they are read for."""


def look_first(shop: ChainShop) -> None:
    """Let the worker have read every chain up to a new block, as `shop.look(1)` does while nothing has happened yet.

    Its first look searches for where to begin, which takes longer than many tests. What it wrote at the very same
    blocks is written again: the worker goes on from there, as one does that was started anew.
    """
    shop.pass_time(2)
    resources = shop.shop.resources
    heads = [net.chain.rpc("eth_getBlockByNumber", "latest", False)["hash"] for net in shop.nets.values()]
    place = frozenset([*heads, *resources.ledgers])
    if place in _WRITTEN:
        with resources.database.write() as session:
            session.execute(insert(WatchCursor), _WRITTEN[place])
        return
    watch(resources)
    expire_orders(resources)
    columns = [each.key for each in WatchCursor.__mapper__.column_attrs]
    with resources.database.read() as session:
        rows = session.scalars(select(WatchCursor)).all()
        _WRITTEN[place] = [{name: getattr(row, name) for name in columns} for row in rows]
