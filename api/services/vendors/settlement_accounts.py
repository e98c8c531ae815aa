"""Check a settlement account before money is sent to it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from eth_utils.address import is_checksum_address, is_checksum_formatted_address

from adapters.chain.deployments import find_contracts
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import MULTICALL3
from api.domain import currencies
from api.domain.errors import InvalidData
from api.domain.orders import StatusReason
from api.services.chains.screening import Screen, nobody
from api.services.chains.token_contracts import read_decimals
from api.services.vendors.vendors import Account
from routing_engine.errors import UnknownToken
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

LAST_RESERVED = 0xFFFF
"""Addresses up to here are precompiled contracts, or will be."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


def check_account(
    *,
    currency: str,
    chain_id: int,
    token: str,
    decimals: int | None,
    address: str,
    screen: Screen = nobody,
    chains: Mapping[int, RpcPool] | None = None,
) -> Account:
    """Return the account that an operator's words describe.

    Parameters
    ----------
    currency : str
        Code of a listed token.
    token : str
        Symbol of a listed token, or an address on the chain.
    decimals : int or None
        Needed for a token that is not listed.
    address : str
        Who receives; a mistyped mixed-case address is recognised by its checksum.
    screen : Screen, optional
        Says who must not be paid.
    chains : mapping of int to RpcPool, optional
        The connected chains, which are asked for the token; without it the chains are simulated ones.

    Raises
    ------
    InvalidData
        Naming the option that is wrong.
    """
    code = _find_currency(currency)
    _require_known(chain_id)
    settled = _find_token(token, chain_id, decimals)
    _require_worth(settled, code)
    recipient = _read_address("address", address)
    refuse_recipient(recipient, settled)
    _refuse_screened(recipient, screen)
    if chains is not None:
        _require_contract(settled, chains)
    return Account(
        currency=code,
        chain_id=chain_id,
        token_address=settled.address,
        token_decimals=settled.decimals,
        address=recipient,
    )


def refuse_recipient(address: str, token: Token) -> None:
    """Refuse an address from which nobody could move what it receives.

    Raises
    ------
    InvalidData
        Naming `address`.
    """
    if address == ZERO_ADDRESS:
        raise InvalidData.at("address", "The zero address would burn the money")
    if int(address, 16) <= LAST_RESERVED or address == NATIVE_ADDRESS:
        raise InvalidData.at("address", "Is nobody's: it is reserved for the chain itself")
    if address == token.address:
        raise InvalidData.at("address", "Is the token's own contract; what it receives is lost")
    if token_registry.info_of(token.chain_id, address) is not None or address == CHAINS[token.chain_id].wrapped_native:
        raise InvalidData.at("address", "Is the contract of a token; what it receives is lost")
    if address in find_contracts(token.chain_id) | {MULTICALL3}:
        raise InvalidData.at("address", "Is a contract of a market or a bridge; anybody could take what it receives")


def _find_currency(text: str) -> str:
    code = currencies.find_canonical(text)
    if code is None or code == currencies.DOLLAR:
        raise InvalidData.at("currency", f"{text!r} is not the symbol of a listed token")
    return code


def _require_known(chain_id: int) -> None:
    if chain_id not in CHAINS:
        known = ", ".join(f"{chain.chain_id} ({chain.name})" for chain in CHAINS.values())
        raise InvalidData.at("chain", f"Unknown chain {chain_id}; use one of {known}")


def _require_worth(token: Token, code: str) -> None:
    """Refuse a listed token of another worth: a price is paid with as many of it as it has of the currency."""
    if token.symbol and currencies.find_kind(token.symbol) != currencies.find_kind(code):
        message = f"{token.symbol} is not worth what {code} is: a price of 1 {code} would be paid with 1 {token.symbol}"
        raise InvalidData.at("token", message)


def _refuse_screened(address: str, screen: Screen) -> None:
    if screen([address]):
        raise InvalidData.at("address", f"Rejected by the check of addresses ({StatusReason.SCREENING_REJECTED})")


def _require_contract(token: Token, chains: Mapping[int, RpcPool]) -> None:
    """Ask the chain whether the token is there with these decimals; a listed one is believed without."""
    if token.address == NATIVE_ADDRESS:
        return
    pool = chains.get(token.chain_id)
    if pool is not None:
        found = read_decimals(pool, token.address)
        if found != token.decimals:
            raise InvalidData.at("decimals", f"The token's contract says {found}, not {token.decimals}")
    elif token_registry.info_of(token.chain_id, token.address) is None:
        message = (
            f"Connect chain {token.chain_id} in RPC_URLS first (TEST_RPC_URLS for the test environment): a token that "
            "is not listed is looked at on its chain"
        )
        raise InvalidData.at("chain", message)


def _find_token(text: str, chain_id: int, decimals: int | None) -> Token:
    if not text.startswith("0x"):
        try:
            text = token_registry.token(text, chain_id).address
        except UnknownToken as error:
            raise InvalidData.at("token", str(error)) from error
    address = _read_address("token", text)
    address = NATIVE_ADDRESS if address == ZERO_ADDRESS else address
    info = token_registry.info_of(chain_id, address)
    if info is not None:
        token = info.on(chain_id)
        if decimals not in {None, token.decimals}:
            raise InvalidData.at("decimals", f"{info.symbol} has {token.decimals}, not {decimals}")
        return token
    if decimals is None:
        raise InvalidData.at("decimals", "Required for a token that is not listed")
    return Token(chain_id=chain_id, address=address, symbol="", decimals=decimals)


def _read_address(option: str, text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise InvalidData.at(option, "Expected 0x and 40 hexadecimal digits")
    if is_checksum_formatted_address(text) and not is_checksum_address(text):
        raise InvalidData.at(option, "The checksum is wrong: a character was mistyped")
    return text.lower()
