"""Which of a vendor's accounts settles an order, and why none can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from api.domain import currencies
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData, Problem
from api.services.resources import Resources
from api.services.vendors.vendors import Account, list_accounts, make_simulated_address
from api.storage.statements import Place

FIELD = "order_price.currency"
USUAL = "USDC, USDT, DAI, ETH, WETH, WBTC"
SETTING = {EnvMode.LIVE: "RPC_URLS", EnvMode.TEST: "TEST_RPC_URLS"}


def list_wanted(given: str) -> Sequence[str]:
    """Return the currencies whose accounts may settle what a vendor calls so, best first."""
    currency = currencies.find_canonical(given)
    return () if currency is None else currencies.list_settling_symbols(currency)


def choose_account(
    resources: Resources, place: Place, vendor_id: str, env_mode: EnvMode, given: str, accounts: Iterable[Account]
) -> tuple[str, Account | None]:
    """Return the canonical currency and the account that settles it.

    On real chains there is always one, on a chain that is connected: a link that nobody can pay is none. On the
    simulated ledger a vendor may have none at all.

    Parameters
    ----------
    accounts : iterable of Account
        The vendor's for the currencies of `list_wanted`, best first.

    Raises
    ------
    InvalidData
        If the currency is unknown, or the vendor has no account for it.
    Conflict
        If the account's chain is not connected.
    """
    currency, simulated = currencies.find_canonical(given), resources.is_simulated(env_mode)

    def leave_out_made_up(accounts: Iterable[Account]) -> list[Account]:
        made_up = None if simulated else make_simulated_address(vendor_id)  # nobody has the key of such an address
        return [account for account in accounts if account.address != made_up]

    settling = leave_out_made_up(accounts)
    if currency is not None and settling:
        return currency, settling[0] if simulated else _choose_connected(resources, env_mode, settling)
    others = leave_out_made_up(list_accounts(place, vendor_id, env_mode))
    if currency is None or others or not simulated:
        raise _refuse(given, currency, env_mode, sorted(account.currency for account in others))
    return currency, None


def _refuse(given: str, currency: str | None, env_mode: EnvMode, others: Sequence[str]) -> InvalidData:
    """Say which currencies there are accounts for."""
    listed = ", ".join(others)
    if currency is None:
        takes_dollars = not set(others).isdisjoint(currencies.list_settling_symbols("USD"))
        known = f"USD, {listed}" if takes_dollars else listed or f"USD, {USUAL} and the other listed tokens"
        found = currencies.HINTS.get(given.upper())
        hint = f" ({found})" if found else ""
        return InvalidData.at(FIELD, f"Unknown currency {given!r}{hint}; use one of {known}")
    message = f"There is no settlement account for {currency} in the {env_mode} environment"
    there = f"; there is {listed}" if listed else ""
    return InvalidData.at(FIELD, f"{message}{there}; the operator adds one with `checkout settlement set`")


def _choose_connected(resources: Resources, env_mode: EnvMode, settling: list[Account]) -> Account:
    ledger = resources.ledgers.get(env_mode)
    chain_ids = ledger.chain_ids if ledger is not None else frozenset()
    found = next((account for account in settling if account.chain_id in chain_ids), None)
    if found is None:
        account = settling[0]
        message = (
            f"{account.currency} is received on chain {account.chain_id}, which is not connected: the operator adds it "
            f"to {SETTING[env_mode]}, or sets an account on a connected chain with `checkout settlement set`"
        )
        raise Conflict("Nobody could pay this link", Problem(path=FIELD, message=message))
    return found
