"""Check a settlement account before money is sent to it."""

from __future__ import annotations

import re

from eth_utils.address import is_checksum_address, is_checksum_formatted_address

from api.domain import currencies
from api.domain.errors import InvalidData
from api.domain.orders import StatusReason
from api.services.screening import Screen, nobody
from api.services.vendors import Account
from routing_engine import registry
from routing_engine.errors import UnknownToken
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


def check_account(
    *, currency: str, chain_id: int, token: str, decimals: int | None, address: str, screen: Screen = nobody
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

    Raises
    ------
    InvalidData
        Naming the option that is wrong.
    """
    code = currencies.canonical(currency)
    if code is None or code == currencies.DOLLAR:
        raise InvalidData.at("currency", f"{currency!r} is not the symbol of a listed token")
    settled = _token(token, chain_id, decimals)
    recipient = _address("address", address)
    if recipient == ZERO_ADDRESS:
        raise InvalidData.at("address", "The zero address would burn the money")
    if screen([recipient]):
        raise InvalidData.at("address", f"Rejected by the check of addresses ({StatusReason.SCREENING_REJECTED})")
    return Account(
        currency=code,
        chain_id=chain_id,
        token_address=settled.address,
        token_decimals=settled.decimals,
        address=recipient,
    )


def _token(text: str, chain_id: int, decimals: int | None) -> Token:
    if not text.startswith("0x"):
        try:
            return registry.token(text, chain_id)
        except UnknownToken as error:
            raise InvalidData.at("token", str(error)) from error
    address = _address("token", text)
    address = NATIVE_ADDRESS if address == ZERO_ADDRESS else address
    info = registry.info_of(chain_id, address)
    if info is not None:
        return info.on(chain_id)
    if decimals is None:
        raise InvalidData.at("decimals", "Required for a token that is not listed")
    return Token(chain_id=chain_id, address=address, symbol="", decimals=decimals)


def _address(option: str, text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise InvalidData.at(option, "Expected 0x and 40 hexadecimal digits")
    if is_checksum_formatted_address(text) and not is_checksum_address(text):
        raise InvalidData.at(option, "The checksum is wrong: a character was mistyped")
    return text.lower()
