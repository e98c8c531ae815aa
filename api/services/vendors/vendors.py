"""Vendors and their settlement accounts, as the operator keeps them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select
from sqlalchemy.orm import Session

from api.domain import currencies
from api.domain.audit import AuditAction, Change
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData, NotFound
from api.domain.ids import IdPrefix, make_id
from api.domain.orders import OrderStatus
from api.services.audit import record_change
from api.services.vendors.key_management import create_key
from api.services.vendors.owned_addresses import claim_address
from api.storage.statements import Place, Statement
from api.storage.tables import PaymentOrder, SettlementAccount, Vendor

MAX_NAME = 200
_ACCOUNT = SettlementAccount.__table__.c
_ALL = Statement(
    select(SettlementAccount.__table__)
    .where(_ACCOUNT.vendor_id == bindparam("vendor_id"), _ACCOUNT.env_mode == bindparam("env_mode"))
    .order_by(_ACCOUNT.currency)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVendor:
    """A vendor just made, with the keys that are shown this once."""

    vendor_id: str
    name: str
    keys: Mapping[EnvMode, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where one currency is received; addresses in lower case."""

    currency: str
    chain_id: int
    token_address: str
    token_decimals: int
    address: str


def create_vendor(session: Session, name: str, at: datetime) -> NewVendor:
    """Make a vendor with a key for each environment and test accounts for every listed token.

    Raises
    ------
    InvalidData
        If the name is empty, too long or not printable, or has the form of an id, which names another vendor.
    Conflict
        If another vendor has the name.
    """
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidData.at("name", f"Must be 1 to {MAX_NAME} printable characters")
    if name.strip().lower().startswith(f"{IdPrefix.VENDOR}_"):
        raise InvalidData.at("name", f"Must not begin like an id of a vendor, {IdPrefix.VENDOR}_")
    if session.scalar(select(Vendor.id).where(Vendor.name == name)) is not None:
        raise Conflict(f"There is a vendor named {name!r} already; choose another name")
    vendor_id = make_id(IdPrefix.VENDOR, at)
    session.add(Vendor(id=vendor_id, name=name, created_at=at))
    session.flush()
    made = Change(action=AuditAction.VENDOR_CREATED, subject=vendor_id, vendor_id=vendor_id, after={"name": name})
    record_change(session, made, at)
    keys = {env_mode: create_key(session, (vendor_id, env_mode), at).text for env_mode in EnvMode}
    accounts = _test_accounts(vendor_id)
    for chain_id, address in sorted({(account.chain_id, account.address) for account in accounts}):
        claim_address(session, (vendor_id, EnvMode.TEST), chain_id, address, at)
    _add_accounts(session, vendor_id, EnvMode.TEST, accounts, at)
    return NewVendor(vendor_id=vendor_id, name=name, keys=keys)


def list_vendors(session: Session) -> Sequence[Vendor]:
    """Return all vendors, oldest first."""
    return session.scalars(select(Vendor).order_by(Vendor.id)).all()


def find_vendor(session: Session, id_or_name: str) -> Vendor:
    """Return the vendor with this id or name.

    Raises
    ------
    NotFound
        If there is none.
    """
    vendor = session.scalar(select(Vendor).where(or_(Vendor.id == id_or_name, Vendor.name == id_or_name)))
    if vendor is None:
        raise NotFound(f"There is no vendor {id_or_name!r}; `checkout vendors list` shows them")
    return vendor


def set_account(session: Session, vendor_id: str, env_mode: EnvMode, account: Account, at: datetime) -> Account | None:
    """Receive a currency with this token at this address from now on; orders made earlier keep theirs.

    Returns
    -------
    Account or None
        The one that it replaces.

    Raises
    ------
    InvalidData
        If the address is another vendor's or another environment's.
    """
    claim_address(session, (vendor_id, env_mode), account.chain_id, account.address, at)
    row = session.get(SettlementAccount, (vendor_id, env_mode, account.currency))
    before = None if row is None else make_accounts([row])[0]
    if account != before:
        owner = vendor_id, env_mode
        record_change(session, _describe_change(AuditAction.SETTLEMENT_SET, owner, before, account), at)
    if row is None:
        _add_accounts(session, vendor_id, env_mode, [account], at)
        return None
    row.chain_id, row.token_address = account.chain_id, account.token_address
    row.token_decimals, row.address, row.updated_at = account.token_decimals, account.address, at
    return before


def remove_account(session: Session, vendor_id: str, env_mode: EnvMode, currency: str, at: datetime) -> int:
    """Take no new orders in a currency; its address stays the vendor's and is watched on.

    Returns
    -------
    int
        How many open orders keep the address.

    Raises
    ------
    NotFound
        If there is no such account.
    """
    row = session.get(SettlementAccount, (vendor_id, env_mode, currencies.find_canonical(currency) or currency))
    if row is None:
        raise NotFound(f"There is no account for {currency} in {env_mode} mode; `checkout settlement list` shows them")
    keeping = select(func.count()).where(
        PaymentOrder.vendor_id == vendor_id,
        PaymentOrder.env_mode == env_mode,
        PaymentOrder.settlement_chain_id == row.chain_id,
        PaymentOrder.settlement_token_address == row.token_address,
        PaymentOrder.settlement_address == row.address,
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
    )
    count = session.scalar(keeping) or 0
    owner, (before,) = (vendor_id, env_mode), make_accounts([row])
    record_change(session, _describe_change(AuditAction.SETTLEMENT_REMOVED, owner, before, None), at)
    session.delete(row)
    return count


def list_accounts(place: Place, vendor_id: str, env_mode: EnvMode) -> tuple[Account, ...]:
    """Return a vendor's accounts in one environment, by currency."""
    return make_accounts(_ALL.fetch(place, {"vendor_id": vendor_id, "env_mode": env_mode}))


def make_accounts(rows: Iterable[Any]) -> tuple[Account, ...]:
    """Read accounts from rows with their columns."""
    return tuple(
        Account(
            currency=row.currency,
            chain_id=row.chain_id,
            token_address=row.token_address,
            token_decimals=row.token_decimals,
            address=row.address,
        )
        for row in rows
    )


def _describe_change(
    action: AuditAction, owner: tuple[str, EnvMode], before: Account | None, after: Account | None
) -> Change:
    account = after or before
    return Change(
        action=action,
        subject=account.currency if account else "",
        vendor_id=owner[0],
        env_mode=owner[1],
        before=asdict(before) if before else {},
        after=asdict(after) if after else {},
    )


def make_simulated_address(vendor_id: str) -> str:
    """Derive the address at which a vendor receives on the simulated ledger."""
    return "0x" + hashlib.sha256(f"settlement:{vendor_id}".encode()).hexdigest()[:40]


def _test_accounts(vendor_id: str) -> list[Account]:
    address = make_simulated_address(vendor_id)
    tokens = [currencies.find_default_token(symbol) for symbol in currencies.list_known_symbols()]
    return [
        Account(
            currency=token.symbol,
            chain_id=token.chain_id,
            token_address=token.address,
            token_decimals=token.decimals,
            address=address,
        )
        for token in tokens
    ]


def _add_accounts(
    session: Session, vendor_id: str, env_mode: EnvMode, accounts: Iterable[Account], at: datetime
) -> None:
    rows = [
        {
            "vendor_id": vendor_id,
            "env_mode": env_mode,
            "currency": account.currency,
            "chain_id": account.chain_id,
            "token_address": account.token_address,
            "token_decimals": account.token_decimals,
            "address": account.address,
            "created_at": at,
            "updated_at": at,
        }
        for account in accounts
    ]
    session.execute(insert(SettlementAccount), rows)
