"""What a new order rests on, in one query: its vendor's accounts and subscriptions, and how far the chains are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import bindparam, false, or_, select

from api.domain.env import EnvMode
from api.services.vendors.vendors import Account, make_accounts
from api.services.webhooks.outbox import ACTIVE
from api.storage.json_objects import gather_object
from api.storage.statements import Place, Statement
from api.storage.tables import SettlementAccount, WatchCursor, WebhookSubscription

_ACCOUNT, _CURSOR, _SUBSCRIPTION = (
    table.__table__.c for table in (SettlementAccount, WatchCursor, WebhookSubscription)
)
_HEIGHTS = select(gather_object(_CURSOR.chain_id, _CURSOR.head_number)).where(_CURSOR.env_mode == bindparam("env_mode"))
_SUBSCRIPTIONS = select(gather_object(_SUBSCRIPTION.id, _SUBSCRIPTION.events)).where(*ACTIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFacts:
    """What is known of a vendor and the chains at one moment.

    Parameters
    ----------
    accounts : tuple of Account
        Those for the currencies that were asked for, in their order.
    heights : dict of str to int
        The newest block of each chain that is known, by chain id: what was mined before never counts for the order.
    subscriptions : sequence of (str, sequence of str)
        The active ones, each with the types of events that it hears of.
    """

    accounts: tuple[Account, ...]
    heights: dict[str, int]
    subscriptions: Sequence[tuple[str, Sequence[str]]]


def read_facts(place: Place, vendor_id: str, env_mode: EnvMode, currencies: Sequence[str]) -> VendorFacts:
    """Read them, with the accounts for these currencies."""
    asked = {f"currency_{n}": each for n, each in enumerate(currencies)}
    rows = _prepare(len(currencies)).fetch(place, {"vendor_id": vendor_id, "env_mode": env_mode, **asked})
    accounts = make_accounts(row for row in rows if row.currency is not None)
    return VendorFacts(
        accounts=tuple(sorted(accounts, key=lambda account: currencies.index(account.currency))),
        heights=rows[0].heights or {},
        subscriptions=tuple((rows[0].subscriptions or {}).items()),
    )


@lru_cache(maxsize=64)
def _prepare(count: int) -> Statement:
    """Return the query with accounts for so many currencies; without accounts it has one row nevertheless."""
    always = select(
        _HEIGHTS.scalar_subquery().label("heights"), _SUBSCRIPTIONS.scalar_subquery().label("subscriptions")
    )
    found = always.subquery()
    is_wanted = or_(false(), *(_ACCOUNT.currency == bindparam(f"currency_{n}") for n in range(count)))
    is_own = (_ACCOUNT.vendor_id == bindparam("vendor_id")) & (_ACCOUNT.env_mode == bindparam("env_mode"))
    names = ("currency", "chain_id", "token_address", "token_decimals", "address")
    return Statement(
        select(found.c.heights, found.c.subscriptions, *(_ACCOUNT[name] for name in names)).select_from(
            found.outerjoin(SettlementAccount.__table__, is_own & is_wanted)
        )
    )
