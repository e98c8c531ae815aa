"""Which of a vendor's accounts settles an order, and why none can."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api.domain import currencies
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData, Problem
from api.services.resources import Resources
from api.services.vendors.vendors import Account, list_accounts, make_simulated_address

FIELD = "order_price.currency"
USUAL = "USDC, USDT, DAI, ETH, WETH, WBTC"
SETTING = {EnvMode.LIVE: "RPC_URLS", EnvMode.TEST: "TEST_RPC_URLS"}


def choose_account(
    resources: Resources, session: Session, vendor_id: str, env_mode: EnvMode, given: str
) -> tuple[str, Account | None]:
    """Return the canonical currency and the account that settles it.

    On real chains there is always one, on a chain that is connected: a link that nobody can pay is none. On the
    simulated ledger a vendor may have none at all.

    Raises
    ------
    InvalidData
        If the currency is unknown, or the vendor has no account for it.
    Conflict
        If the account's chain is not connected.
    """
    currency, simulated = currencies.find_canonical(given), resources.is_simulated(env_mode)
    accounts = {
        account.currency: account
        for account in list_accounts(session, vendor_id, env_mode)
        if simulated or account.address != make_simulated_address(vendor_id)  # nobody has the key of a made-up address
    }
    listed = ", ".join(sorted(accounts))
    if currency is None:
        takes_dollars = not accounts.keys().isdisjoint(currencies.list_settling_symbols("USD"))
        known = f"USD, {listed}" if takes_dollars else listed or f"USD, {USUAL} and the other listed tokens"
        raise InvalidData.at(FIELD, f"Unknown currency {given!r}; use one of {known}")
    settling = [accounts[code] for code in currencies.list_settling_symbols(currency) if code in accounts]
    if not settling and (accounts or not simulated):
        message = f"There is no settlement account for {currency} in the {env_mode} environment"
        there = f"; there is {listed}" if listed else ""
        raise InvalidData.at(FIELD, f"{message}{there}; the operator adds one with `checkout settlement set`")
    if simulated:
        return currency, settling[0] if settling else None
    return currency, _choose_connected(resources, env_mode, settling)


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
