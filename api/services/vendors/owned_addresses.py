"""Whose each settlement address is: on one chain it belongs to one vendor in one environment, for good.

Two owners would make every payment to it a guess. So an address is claimed in the transaction that sets an account, and
stays its owner's once the account is removed: customers may still pay what they were shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.domain.orders import OrderStatus
from api.storage.db import insert_new
from api.storage.statements import Place, Statement
from api.storage.tables import OwnedAddress, PaymentOrder, SettlementAccount

Owner: TypeAlias = tuple[str, EnvMode]
"""A vendor's id, and the environment."""

MOST_NAMED = 5
"""Disagreements that are spelt out."""
_ALL = Statement(select(OwnedAddress.chain_id, OwnedAddress.address, OwnedAddress.vendor_id, OwnedAddress.env_mode))


def claim_address(session: Session, owner: Owner, chain_id: int, address: str, at: datetime) -> None:
    """Make an address on a chain its owner's; of two that claim it at once the second is refused.

    Parameters
    ----------
    address : str
        In lower case.

    Raises
    ------
    InvalidData
        Naming `address`, if it is another vendor's or another environment's. It does not say whose.
    """
    vendor_id, env_mode = owner
    key = {"chain_id": chain_id, "address": address}
    if insert_new(session, OwnedAddress, key | {"vendor_id": vendor_id, "env_mode": env_mode, "created_at": at}):
        return
    known = session.get_one(OwnedAddress, (chain_id, address))
    if (known.vendor_id, known.env_mode) != owner:
        message = (
            f"Is used on chain {chain_id} by another vendor or in the other environment; payments could not be told "
            "apart: receive at an address of your own, another one for each environment"
        )
        raise InvalidData.at("address", message)


def load_owned_addresses(place: Place) -> Mapping[int, Mapping[str, Owner]]:
    """Return the owner of each address, by chain id and address."""
    found: dict[int, dict[str, Owner]] = defaultdict(dict)
    for chain_id, address, vendor_id, env_mode in _ALL.fetch(place):
        found[chain_id][address] = (vendor_id, EnvMode(env_mode))
    return found


def load_recipients(place: Place, env_mode: EnvMode, chain_ids: Collection[int]) -> Mapping[int, frozenset[str]]:
    """Return the addresses to watch on each of these chains for an environment.

    They are the environment's own there, and those that are its own on other chains: a payment on the wrong chain is
    found too. Of the latter an address is left out that has several owners on other chains, or another one on this.
    """
    owned = load_owned_addresses(place)
    owners: dict[str, set[Owner]] = defaultdict(set)
    for by_address in owned.values():
        for address, owner in by_address.items():
            owners[address].add(owner)
    return {
        chain_id: frozenset(
            address
            for address, everywhere in owners.items()
            if (found := _find_owner_on(owned.get(chain_id, {}).get(address), everywhere)) and found[1] == env_mode
        )
        for chain_id in chain_ids
    }


def find_owner(session: Session, chain_id: int, address: str) -> Owner | None:
    """Return whose everything is that reaches an address on a chain; None where that is nobody's or a guess."""
    rows = session.scalars(select(OwnedAddress).where(OwnedAddress.address == address)).all()
    by_chain = {row.chain_id: (row.vendor_id, EnvMode(row.env_mode)) for row in rows}
    return _find_owner_on(by_chain.get(chain_id), set(by_chain.values()))


def load_places(session: Session, owner: Owner) -> Mapping[str, frozenset[int] | None]:
    """Return the addresses of an owner, with the chains on which what reaches them is its own; None: on all chains."""
    vendor_id, env_mode = owner
    mine = select(OwnedAddress.address).where(OwnedAddress.vendor_id == vendor_id, OwnedAddress.env_mode == env_mode)
    owners: dict[str, dict[int, Owner]] = defaultdict(dict)
    for row in session.scalars(select(OwnedAddress).where(OwnedAddress.address.in_(mine))):
        owners[row.address][row.chain_id] = (row.vendor_id, EnvMode(row.env_mode))
    return {
        address: None
        if set(by_chain.values()) == {owner}
        else frozenset(chain_id for chain_id, each in by_chain.items() if each == owner)
        for address, by_chain in owners.items()
    }


def find_disagreements(session: Session) -> tuple[str, ...]:
    """Describe accounts and open orders whose address is not their owner's, a few at most."""
    accounts = (
        select(SettlementAccount.vendor_id, SettlementAccount.env_mode, SettlementAccount.currency)
        .add_columns(SettlementAccount.chain_id, SettlementAccount.address)
        .outerjoin(OwnedAddress, _is_same_place(SettlementAccount.chain_id, SettlementAccount.address))
        .where(_has_other_owner(SettlementAccount.vendor_id, SettlementAccount.env_mode))
    )
    orders = (
        select(PaymentOrder.vendor_id, PaymentOrder.env_mode, PaymentOrder.id)
        .add_columns(PaymentOrder.settlement_chain_id, PaymentOrder.settlement_address)
        .outerjoin(OwnedAddress, _is_same_place(PaymentOrder.settlement_chain_id, PaymentOrder.settlement_address))
        .where(
            PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
            PaymentOrder.settlement_address.is_not(None),
            _has_other_owner(PaymentOrder.vendor_id, PaymentOrder.env_mode),
        )
    )
    return tuple(
        f"{kind} {name} of vendor {vendor_id} ({env_mode}) receives on chain {chain_id} at {address}"
        for kind, query in (("the account", accounts), ("the order", orders))
        for vendor_id, env_mode, name, chain_id, address in session.execute(query.limit(MOST_NAMED))
    )


def _find_owner_on(here: Owner | None, everywhere: set[Owner]) -> Owner | None:
    """Return who owns an address on a chain; without an owner there, its only one elsewhere."""
    if here is not None:
        return here
    return next(iter(everywhere)) if len(everywhere) == 1 else None


def _is_same_place(
    chain_id: InstrumentedAttribute[int] | InstrumentedAttribute[int | None],
    address: InstrumentedAttribute[str] | InstrumentedAttribute[str | None],
) -> ColumnElement[bool]:
    return and_(OwnedAddress.chain_id == chain_id, OwnedAddress.address == address)


def _has_other_owner(
    vendor_id: InstrumentedAttribute[str], env_mode: InstrumentedAttribute[str]
) -> ColumnElement[bool]:
    return or_(OwnedAddress.address.is_(None), OwnedAddress.vendor_id != vendor_id, OwnedAddress.env_mode != env_mode)
